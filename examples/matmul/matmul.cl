// C[m][n] = A[m][k] * B[k][n], row-major, one element of C per work-item.

// Straight from global memory, one fused multiply-add per step.
kernel void matmul_naive(global float *c, global const float *a, global const float *b,
                         uint m, uint n, uint k)
{
    size_t col = get_global_id(0);
    size_t row = get_global_id(1);
    if (row >= m || col >= n)
        return;
    float sum = 0.0f;
    for (uint i = 0; i < k; i++)
        sum = fma(a[row * k + i], b[i * (size_t)n + col], sum);
    c[row * n + col] = sum;
}

#define TILE 16

// A tile of A and a tile of B go through LDS. Work-items outside of C still help to load, so that
// every one of them reaches the barriers. Product and sum are rounded separately.
kernel __attribute__((reqd_work_group_size(TILE, TILE, 1)))
void matmul_tiled(global float *c, global const float *a, global const float *b,
                  uint m, uint n, uint k)
{
    local float ta[TILE][TILE];
    local float tb[TILE][TILE + 1];
    size_t x = get_local_id(0), y = get_local_id(1);
    size_t col = get_global_id(0);
    size_t row = get_global_id(1);
    float sum = 0.0f;
    for (uint base = 0; base < k; base += TILE) {
        ta[y][x] = row < m && base + x < k ? a[row * k + base + x] : 0.0f;
        tb[y][x] = base + y < k && col < n ? b[(base + y) * n + col] : 0.0f;
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint i = 0; i < TILE; i++)
            sum += ta[y][i] * tb[i][x];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (row < m && col < n)
        c[row * n + col] = sum;
}
