// C = A B, row by row, of square matrices whose size is a multiple of 64: a workgroup of four waves makes 64 x 64
// elements of C from tiles in LDS, by matrix instructions or by fused multiply-adds.

typedef float float16_t __attribute__((ext_vector_type(16)));

#define TILE 64
#define DEPTH 16

// Columns of A's tile are rows in LDS, so that lanes load adjacent elements.
#define LOAD_TILES                                                                                                            \
    for (int at = item; at < TILE * DEPTH; at += 256) {                                                                       \
        x[at % DEPTH][at / DEPTH] = a[(row + at / DEPTH) * n + k + at % DEPTH];                                               \
        y[at / TILE][at % TILE] = b[(k + at / TILE) * n + column + at % TILE];                                                \
    }

kernel __attribute__((reqd_work_group_size(256, 1, 1))) void gemm_mfma(
    global float *c, global const float *a, global const float *b, int n)
{
    local float x[DEPTH][TILE + 1], y[DEPTH][TILE];
    int item = get_local_id(0), row = get_group_id(1) * TILE, column = get_group_id(0) * TILE;
    int lane = item % 64, top = item / 128 * 32, left = item / 64 % 2 * 32;
    float16_t sum = 0;
    for (int k = 0; k < n; k += DEPTH) {
        LOAD_TILES
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int i = 0; i < DEPTH; i += 2) {
            int of = i + lane / 32;
            sum = __builtin_amdgcn_mfma_f32_32x32x2f32(x[of][top + lane % 32], y[of][left + lane % 32], sum, 0, 0, 0);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    for (int i = 0; i < 16; i++) {
        int at = row + top + i / 4 * 8 + lane / 32 * 4 + i % 4;
        c[at * n + column + left + lane % 32] = sum[i];
    }
}

kernel __attribute__((reqd_work_group_size(256, 1, 1))) void gemm_fma(
    global float *c, global const float *a, global const float *b, int n)
{
    local float x[DEPTH][TILE + 1], y[DEPTH][TILE];
    int item = get_local_id(0), row = get_group_id(1) * TILE, column = get_group_id(0) * TILE;
    int top = item / 16 * 4, left = item % 16 * 4;
    float sum[4][4] = {};
    for (int k = 0; k < n; k += DEPTH) {
        LOAD_TILES
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int of = 0; of < DEPTH; of++)
            for (int i = 0; i < 4; i++)
                for (int j = 0; j < 4; j++)
                    sum[i][j] = fma(x[of][top + i], y[of][left + j], sum[i][j]);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++)
            c[(row + top + i) * n + column + left + j] = sum[i][j];
}
