// Scans in local memory.
#define ITEMS 256

// Sums from the beginning of each segment on, by doubling distances; a segment begins at a flag.
kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1)))
void segments(global int *out, global const int *in, global const uchar *flags)
{
    local int sums[ITEMS];
    local uchar begun[ITEMS];
    size_t id = get_global_id(0);
    int at = get_local_id(0);
    sums[at] = in[id];
    begun[at] = flags[id] < 16;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int distance = 1; distance < ITEMS; distance *= 2) {
        int sum = sums[at];
        uchar flag = begun[at];
        if (at >= distance && !flag) {
            sum += sums[at - distance];
            flag = begun[at - distance];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        sums[at] = sum;
        begun[at] = flag;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    out[id] = sums[at];
}

static bool wanted(int x)
{
    return x % 3 == 0;
}

// How many numbers of each block of 256 are kept.
kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1)))
void count_kept(global uint *counts, global const int *in)
{
    local uint count;
    if (get_local_id(0) == 0)
        count = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (wanted(in[get_global_id(0)]))
        atomic_inc(&count);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) == 0)
        counts[get_group_id(0)] = count;
}

// Where each block's numbers go: one workgroup adds up all counts.
kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1)))
void place_blocks(global uint *places, global const uint *counts, uint n)
{
    local uint sums[ITEMS];
    uint at = get_local_id(0), base = 0;
    for (uint first = 0; first < n; first += ITEMS) {
        uint own = first + at < n ? counts[first + at] : 0;
        sums[at] = own;
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint distance = 1; distance < ITEMS; distance *= 2) {
            uint before = at >= distance ? sums[at - distance] : 0;
            barrier(CLK_LOCAL_MEM_FENCE);
            sums[at] += before;
            barrier(CLK_LOCAL_MEM_FENCE);
        }
        if (first + at < n)
            places[first + at] = base + sums[at] - own;
        base += sums[ITEMS - 1];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}

// Puts the numbers that are kept one after the other.
kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1)))
void keep(global int *out, global const uint *places, global const int *in)
{
    local uint sums[ITEMS];
    uint at = get_local_id(0);
    int x = in[get_global_id(0)];
    bool kept = wanted(x);
    sums[at] = kept;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint distance = 1; distance < ITEMS; distance *= 2) {
        uint before = at >= distance ? sums[at - distance] : 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        sums[at] += before;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (kept)
        out[places[get_group_id(0)] + sums[at] - 1] = x;
}
