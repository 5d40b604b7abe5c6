// Three reductions: each work-item strides through the input, a tree in LDS joins the workgroup,
// and its first work-item joins the workgroups by a global atomic.
// The workgroup's size is a power of two; `scratch` holds one element per work-item.
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable

kernel void reduce_sum(global uint *sum, global const uint *in, local uint *scratch, uint n)
{
    size_t lid = get_local_id(0);
    uint acc = 0;
    for (size_t i = get_global_id(0); i < n; i += get_global_size(0))
        acc += in[i];
    scratch[lid] = acc;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (size_t width = get_local_size(0) / 2; width > 0; width /= 2) {
        if (lid < width)
            scratch[lid] += scratch[lid + width];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (lid == 0)
        atomic_add(sum, scratch[0]);
}

// There is no float atomic maximum in OpenCL C: a compare-and-swap loop makes one.
static void atomic_max_float(volatile global uint *best, float value)
{
    uint old = *best;
    while (as_float(old) < value) {
        uint seen = atomic_cmpxchg(best, old, as_uint(value));
        if (seen == old)
            break;
        old = seen;
    }
}

kernel void reduce_max(global uint *best, global const float *in, local float *scratch, uint n)
{
    size_t lid = get_local_id(0);
    float acc = -INFINITY;
    for (size_t i = get_global_id(0); i < n; i += get_global_size(0))
        acc = fmax(acc, in[i]);
    scratch[lid] = acc;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (size_t width = get_local_size(0) / 2; width > 0; width /= 2) {
        if (lid < width)
            scratch[lid] = fmax(scratch[lid], scratch[lid + width]);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (lid == 0)
        atomic_max_float(best, scratch[0]);
}

// The sum of squares needs 64 bits.
kernel void reduce_squares(global ulong *sum, global const uint *in, local ulong *scratch, uint n)
{
    size_t lid = get_local_id(0);
    ulong acc = 0;
    for (size_t i = get_global_id(0); i < n; i += get_global_size(0))
        acc += (ulong)in[i] * in[i];
    scratch[lid] = acc;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (size_t width = get_local_size(0) / 2; width > 0; width /= 2) {
        if (lid < width)
            scratch[lid] += scratch[lid + width];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (lid == 0)
        atom_add(sum, scratch[0]);
}
