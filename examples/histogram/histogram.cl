// A byte histogram, and the extents of signed numbers: LDS atomics within the workgroup, then
// global atomics.
kernel void histogram(global uint *bins, global const uchar *data, uint n)
{
    local uint counts[256];
    for (size_t b = get_local_id(0); b < 256; b += get_local_size(0))
        counts[b] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (size_t i = get_global_id(0); i < n; i += get_global_size(0))
        atomic_inc(&counts[data[i]]);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (size_t b = get_local_id(0); b < 256; b += get_local_size(0))
        if (counts[b] != 0)
            atomic_add(&bins[b], counts[b]);
}

// range: least and greatest; bits: those of any number, their parity, those of all.
kernel void extents(global int *range, global uint *bits, global const int *data, uint n)
{
    local int least, greatest;
    local uint seen, parity, common;
    if (get_local_id(0) == 0) {
        least = INT_MAX;
        greatest = INT_MIN;
        seen = 0;
        parity = 0;
        common = ~0u;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    size_t i = get_global_id(0);
    if (i < n) {
        atomic_min(&least, data[i]);
        atomic_max(&greatest, data[i]);
        atomic_or(&seen, (uint)data[i]);
        atomic_xor(&parity, (uint)data[i]);
        atomic_and(&common, (uint)data[i]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) == 0) {
        atomic_min(&range[0], least);
        atomic_max(&range[1], greatest);
        atomic_or(&bits[0], seen);
        atomic_xor(&bits[1], parity);
        atomic_and(&bits[2], common);
    }
}
