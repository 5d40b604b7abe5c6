// Dynamic programming.
#define LENGTH 32

// The least number of edits between words of 32 letters, a pair per work-item.
kernel void edit_distance(global uint *out, global const uchar *a, global const uchar *b)
{
    size_t id = get_global_id(0);
    uchar row[LENGTH + 1];
    for (int j = 0; j <= LENGTH; j++)
        row[j] = j;
    for (int i = 0; i < LENGTH; i++) {
        uchar letter = a[id * LENGTH + i], corner = row[0];
        row[0] = i + 1;
        for (int j = 0; j < LENGTH; j++) {
            uchar best = corner + (letter != b[id * LENGTH + j]);
            corner = row[j + 1];
            best = min(best, (uchar)(min(row[j], corner) + 1));
            row[j + 1] = best;
        }
    }
    out[id] = row[LENGTH];
}

// The best local alignment of two sequences of 128 letters, a pair per workgroup, by diagonals.
kernel __attribute__((reqd_work_group_size(128, 1, 1)))
void alignment(global int *scores, global const uchar *a, global const uchar *b)
{
    local int diagonals[3][129];
    local int best;
    int i = get_local_id(0);
    size_t base = get_group_id(0) * 128;
    uchar letter = a[base + i];
    for (int d = 0; d < 3; d++)
        diagonals[d][i + 1] = 0;
    if (i == 0) {
        for (int d = 0; d < 3; d++)
            diagonals[d][0] = 0;
        best = 0;
    }
    int most = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int d = 0; d < 255; d++) {
        local int *now = diagonals[d % 3], *last = diagonals[(d + 2) % 3], *older = diagonals[(d + 1) % 3];
        int j = d - i;
        if (j >= 0 && j < 128) {
            int score = older[i] + (letter == b[base + j] ? 3 : -2);
            score = max(score, max(last[i], last[i + 1]) - 2);
            score = max(score, 0);
            now[i + 1] = score;
            most = max(most, score);
        } else {
            now[i + 1] = 0;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    atomic_max(&best, most);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (i == 0)
        scores[get_group_id(0)] = best;
}

// What a bag of each size up to 255 can hold at best, a problem per workgroup.
kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void knapsack(global uint *out, global const uchar *weights, global const uchar *values, int items)
{
    local uint best[2][256];
    int size = get_local_id(0);
    size_t base = get_group_id(0) * items;
    best[0][size] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = 0; i < items; i++) {
        int weight = weights[base + i];
        uint with = best[i & 1][size];
        if (weight <= size)
            with = max(with, best[i & 1][size - weight] + values[base + i]);
        best[(i + 1) & 1][size] = with;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    out[get_global_id(0)] = best[items & 1][size];
}

// The longest common subsequence of texts of 64 letters each out of four, by bits.
kernel void subsequence(global uint *out, global const uchar *a, global const uchar *b)
{
    size_t id = get_global_id(0);
    ulong where[4] = {0, 0, 0, 0};
    for (int i = 0; i < 64; i++)
        where[a[id * 64 + i] & 3] |= 1ul << i;
    ulong row = ~0ul;
    for (int j = 0; j < 64; j++) {
        ulong matches = row & where[b[id * 64 + j] & 3];
        row = (row + matches) | (row - matches);
    }
    out[id] = (uint)popcount(~row);
}
