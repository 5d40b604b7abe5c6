// Stencils in one to three dimensions, with tests at the borders.
#define RADIUS 4

// Weighted means of nine neighbours in a line, through local memory; beyond the ends there is zero.
kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void line(global float *out, global const float *in, constant float *weights, int n)
{
    local float tile[256 + 2 * RADIUS];
    int id = get_global_id(0), at = get_local_id(0) + RADIUS;
    tile[at] = id < n ? in[id] : 0.0f;
    if (get_local_id(0) < RADIUS) {
        tile[at - RADIUS] = id >= RADIUS ? in[id - RADIUS] : 0.0f;
        tile[at + 256] = id + 256 < n ? in[id + 256] : 0.0f;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    float sum = 0.0f;
    for (int i = -RADIUS; i <= RADIUS; i++)
        sum += weights[i + RADIUS] * tile[at + i];
    if (id < n)
        out[id] = sum;
}

// A generation of Conway's game of life on a board whose opposite edges meet.
kernel void life(global uchar *out, global const uchar *in, int width, int height)
{
    int x = get_global_id(0), y = get_global_id(1);
    int count = 0;
    for (int dy = -1; dy <= 1; dy++) {
        for (int dx = -1; dx <= 1; dx++) {
            int nx = (x + dx + width) % width, ny = (y + dy + height) % height;
            if (dx != 0 || dy != 0)
                count += in[ny * width + nx] & 1;
        }
    }
    out[y * width + x] = count == 3 || (count == 2 && (in[y * width + x] & 1));
}

// Means of the 27 neighbours in space that there are.
kernel void box(global float *out, global const float *in, int nx, int ny, int nz)
{
    int x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);
    float sum = 0.0f;
    int count = 0;
    for (int k = z - 1; k <= z + 1; k++) {
        for (int j = y - 1; j <= y + 1; j++) {
            for (int i = x - 1; i <= x + 1; i++) {
                if (i < 0 || j < 0 || k < 0 || i >= nx || j >= ny || k >= nz)
                    continue;
                sum += in[(k * ny + j) * nx + i];
                count++;
            }
        }
    }
    out[(z * ny + y) * nx + x] = sum / count;
}

// A step of the wave equation in a plane, through tiles in local memory with their margins.
kernel __attribute__((reqd_work_group_size(16, 16, 1)))
void wave(global float *next, global const float *now, global const float *before, int width, int height,
          float speed)
{
    local float tile[18][18];
    int lx = get_local_id(0), ly = get_local_id(1);
    int left = get_group_id(0) * 16 - 1, top = get_group_id(1) * 16 - 1;
    for (int i = ly * 16 + lx; i < 18 * 18; i += 256) {
        int x = left + i % 18, y = top + i / 18;
        bool inside = x >= 0 && y >= 0 && x < width && y < height;
        tile[i / 18][i % 18] = inside ? now[y * width + x] : 0.0f;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    int at = get_global_id(1) * width + get_global_id(0);
    float centre = tile[ly + 1][lx + 1];
    float around = tile[ly][lx + 1] + tile[ly + 2][lx + 1] + tile[ly + 1][lx] + tile[ly + 1][lx + 2];
    next[at] = 2.0f * centre - before[at] + speed * (around - 4.0f * centre);
}
