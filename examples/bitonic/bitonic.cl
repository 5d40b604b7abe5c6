// Bitonic sort of u32 keys, ascending; the count is a power of two and a multiple of BLOCK.
// Order of launches: bitonic_block once; then for k = 2*BLOCK, 4*BLOCK .. count: bitonic_step for
// j = k/2 down to BLOCK, and bitonic_merge for the rest of that k.
#define HALF  256          // work-items in a workgroup
#define BLOCK (2 * HALF)   // keys in a workgroup

// One compare-exchange of every pair at distance j inside the tile; `base` is the tile's place.
static void exchange(local uint *tile, size_t base, uint j, uint k)
{
    uint lid = get_local_id(0);
    uint i = 2 * lid - (lid & (j - 1));
    bool ascending = ((base + i) & k) == 0;
    uint low = tile[i], high = tile[i + j];
    if ((low > high) == ascending) {
        tile[i] = high;
        tile[i + j] = low;
    }
}

kernel __attribute__((reqd_work_group_size(HALF, 1, 1)))
void bitonic_block(global uint *keys)
{
    local uint tile[BLOCK];
    size_t lid = get_local_id(0), base = get_group_id(0) * BLOCK;
    tile[lid] = keys[base + lid];
    tile[lid + HALF] = keys[base + lid + HALF];
    for (uint k = 2; k <= BLOCK; k *= 2) {
        for (uint j = k / 2; j > 0; j /= 2) {
            barrier(CLK_LOCAL_MEM_FENCE);
            exchange(tile, base, j, k);
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    keys[base + lid] = tile[lid];
    keys[base + lid + HALF] = tile[lid + HALF];
}

kernel void bitonic_step(global uint *keys, uint j, uint k)
{
    size_t id = get_global_id(0);
    size_t i = 2 * id - (id & (j - 1));
    bool ascending = (i & k) == 0;
    uint low = keys[i], high = keys[i + j];
    if ((low > high) == ascending) {
        keys[i] = high;
        keys[i + j] = low;
    }
}

kernel __attribute__((reqd_work_group_size(HALF, 1, 1)))
void bitonic_merge(global uint *keys, uint k)
{
    local uint tile[BLOCK];
    size_t lid = get_local_id(0), base = get_group_id(0) * BLOCK;
    tile[lid] = keys[base + lid];
    tile[lid + HALF] = keys[base + lid + HALF];
    for (uint j = HALF; j > 0; j /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        exchange(tile, base, j, k);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    keys[base + lid] = tile[lid];
    keys[base + lid + HALF] = tile[lid + HALF];
}
