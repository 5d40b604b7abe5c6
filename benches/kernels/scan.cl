// An exclusive prefix sum of u32: blocks of 1024 in LDS, their sums in the same way, and then the
// sums added to the blocks. The count is a multiple of four.
#define ITEMS 256

kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1)))
void scan_blocks(global uint4 *out, global uint *sums, global const uint4 *in, uint n)
{
    local uint tile[ITEMS];
    size_t i = get_global_id(0), lid = get_local_id(0);
    uint4 v = 4 * i < n ? in[i] : (uint4)0;
    uint mine = v.x + v.y + v.z + v.w;
    tile[lid] = mine;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (size_t distance = 1; distance < ITEMS; distance *= 2) {
        uint before = lid >= distance ? tile[lid - distance] : 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        tile[lid] += before;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    uint inclusive = tile[lid], start = inclusive - mine;
    if (4 * i < n)
        out[i] = (uint4)(start, start + v.x, start + v.x + v.y, start + v.x + v.y + v.z);
    if (lid == ITEMS - 1)
        sums[get_group_id(0)] = inclusive;
}

kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1)))
void add_sums(global uint4 *out, global const uint *sums, uint n)
{
    size_t i = get_global_id(0);
    if (4 * i < n)
        out[i] += sums[get_group_id(0)];
}
