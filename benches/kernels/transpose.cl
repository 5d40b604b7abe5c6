// A matrix transposed through tiles in LDS, whose rows are padded against bank conflicts.
#define TILE 32
#define ROWS 8

kernel __attribute__((reqd_work_group_size(TILE, ROWS, 1)))
void transpose(global float *out, global const float *in, uint width, uint height)
{
    local float tile[TILE][TILE + 1];
    size_t lx = get_local_id(0), ly = get_local_id(1);
    size_t x = get_group_id(0) * TILE + lx, y = get_group_id(1) * TILE + ly;
    for (size_t r = 0; r < TILE; r += ROWS)
        tile[ly + r][lx] = in[(y + r) * width + x];
    barrier(CLK_LOCAL_MEM_FENCE);
    x = get_group_id(1) * TILE + lx;
    y = get_group_id(0) * TILE + ly;
    for (size_t r = 0; r < TILE; r += ROWS)
        out[(y + r) * height + x] = tile[lx][ly + r];
}
