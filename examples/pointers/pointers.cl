// Generic pointers: one load instruction whose lanes read global memory, LDS and scratch at once.
// For gfx700 and newer (gfx600 has no flat addressing).
#define COUNT 8

static __attribute__((noinline)) uint weigh(const uint *values, uint count)
{
    uint sum = 0;
    for (uint k = 0; k < count; k++)
        sum = sum * 31 + values[k];
    return sum;
}

static __attribute__((noinline)) void scatter(uint *values, uint at, uint value)
{
    values[at & (COUNT - 1)] ^= value;
}

kernel __attribute__((reqd_work_group_size(128, 1, 1)))
void pointers(global uint *results, global uint *table, local uint *extra, uint n)
{
    local uint tile[128 * COUNT];
    uint mine[COUNT];
    size_t i = get_global_id(0), lid = get_local_id(0);
    for (uint k = 0; k < COUNT; k++) {
        mine[k] = (uint)i * 7 + k * k;
        tile[lid * COUNT + k] = (uint)i * 5 + k;
    }
    extra[lid] = (uint)lid * 3;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (i >= n)
        return;
    uint kind = (uint)(i * 2654435761u) >> 28;
    uint *place = kind % 3 == 0 ? (uint *)&table[i * COUNT]
                : kind % 3 == 1 ? (uint *)&tile[lid * COUNT]
                                : (uint *)mine;
    scatter(place, kind, extra[127 - lid]);
    results[i] = weigh(place, COUNT);
}
