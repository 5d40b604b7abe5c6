// Private arrays whose indices are known only when the kernel runs.
#define ROW 32

// Sorts rows of 32 numbers by insertion, one row per work-item.
kernel void insertion_sort(global int *out, global const int *in)
{
    size_t row = get_global_id(0);
    int a[ROW];
    for (int i = 0; i < ROW; i++) {
        int x = in[row * ROW + i];
        int j = i;
        while (j > 0 && a[j - 1] > x) {
            a[j] = a[j - 1];
            j--;
        }
        a[j] = x;
    }
    for (int i = 0; i < ROW; i++)
        out[row * ROW + i] = a[i];
}

static bool attacked(const int *place, int row, int column)
{
    for (int r = 0; r < row; r++) {
        int d = place[r] - column;
        if (d == 0 || d == row - r || d == r - row)
            return true;
    }
    return false;
}

// Ways to place n queens whose first three rows are given by the work-item's number.
kernel void queens(global uint *counts, int n)
{
    int id = get_global_id(0);
    int place[16];
    uint count = 0;
    int given[3] = {id % n, id / n % n, id / (n * n)};
    bool possible = given[2] < n;
    for (int row = 0; row < 3 && possible; row++) {
        possible = !attacked(place, row, given[row]);
        place[row] = given[row];
    }
    if (possible) {
        int row = 3;
        place[row] = -1;
        while (row >= 3) {
            int column = place[row] + 1;
            while (column < n && attacked(place, row, column))
                column++;
            if (column == n) {
                row--;
            } else if (row == n - 1) {
                count++;
                place[row] = column;
            } else {
                place[row] = column;
                row++;
                place[row] = -1;
            }
        }
    }
    counts[id] = count;
}

// Clips triangles to the square from (-1, -1) to (1, 1) after Sutherland and Hodgman; twice the area
// of what is left.
kernel void polygon_clip(global float *areas, global const float2 *corners, int n)
{
    int id = get_global_id(0);
    if (id >= n)
        return;
    float2 polygon[8], clipped[8];
    int count = 3;
    for (int i = 0; i < 3; i++)
        polygon[i] = corners[3 * id + i];
    for (int edge = 0; edge < 4; edge++) {
        int kept = 0;
        for (int i = 0; i < count; i++) {
            float2 p = polygon[i], q = polygon[i + 1 < count ? i + 1 : 0];
            float a = edge & 1 ? p.y : p.x, b = edge & 1 ? q.y : q.x;
            if (edge & 2) {
                a = -a;
                b = -b;
            }
            if (a <= 1.0f)
                clipped[kept++] = p;
            if ((a <= 1.0f) != (b <= 1.0f))
                clipped[kept++] = p + (q - p) * ((1.0f - a) / (b - a));
        }
        count = kept;
        for (int i = 0; i < count; i++)
            polygon[i] = clipped[i];
    }
    float area = 0.0f;
    for (int i = 0; i < count; i++) {
        float2 p = polygon[i], q = polygon[i + 1 < count ? i + 1 : 0];
        area += p.x * q.y - p.y * q.x;
    }
    areas[id] = fabs(area);
}
