// Reductions and prefix sums in LDS.
#include "pair.h"

kernel void NAME(reduce_tree)(const global uint *x, global uint *y) {
    local uint sums[256];
    uint l = get_local_id(0);
    sums[l] = x[get_global_id(0)];
    for (uint s = 128; s > 0; s /= 2) {
        REPAIR(barrier(CLK_LOCAL_MEM_FENCE);)
        if (l < s)
            sums[l] += sums[l + s];
    }
    if (l == 0)
        y[get_group_id(0)] = sums[0];
}

// Takes a wave for 128 work-items: the step of 64 has no barrier.
kernel void NAME(reduce_wide_wave)(const global uint *x, global uint *y) {
    volatile local uint sums[256];
    uint l = get_local_id(0);
    sums[l] = x[get_global_id(0)];
    for (uint s = 128; s > 0; s /= 2) {
        if (s > EITHER(64, 32))
            barrier(CLK_LOCAL_MEM_FENCE);
        if (l < s)
            sums[l] += sums[l + s];
    }
    if (l == 0)
        y[get_group_id(0)] = sums[0];
}

// The unrolled last steps are a wave's own, but its first operands are not.
kernel void NAME(reduce_unrolled)(const global uint *x, global uint *y) {
    volatile local uint sums[256];
    uint l = get_local_id(0);
    sums[l] = x[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l < 128)
        sums[l] += sums[l + 128];
    REPAIR(barrier(CLK_LOCAL_MEM_FENCE);)
    if (l < 64) {
        sums[l] += sums[l + 64];
        sums[l] += sums[l + 32];
        sums[l] += sums[l + 16];
        sums[l] += sums[l + 8];
        sums[l] += sums[l + 4];
        sums[l] += sums[l + 2];
        sums[l] += sums[l + 1];
    }
    if (l == 0)
        y[get_group_id(0)] = sums[0];
}

// All waves read the sum, which the last step has just written.
kernel void NAME(reduce_result)(const global uint *x, global uint *y) {
    local uint sums[128];
    uint l = get_local_id(0), i = get_global_id(0);
    sums[l] = x[i];
    for (uint s = 64; s > 0; s /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (l < s)
            sums[l] += sums[l + s];
    }
    REPAIR(barrier(CLK_LOCAL_MEM_FENCE);)
    y[i] = sums[0] - x[i];
}

static uint NAME(sum)(local uint *sums, uint value) {
    uint l = get_local_id(0);
    sums[l] = value;
    for (uint s = 64; s > 0; s /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (l < s)
            sums[l] += sums[l + s];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    return sums[0];
}

// The second sum begins while waves still read the first.
kernel void NAME(reduce_twice)(const global uint *x, global uint *y) {
    local uint sums[128];
    uint i = get_global_id(0);
    uint first = NAME(sum)(sums, x[i]);
    REPAIR(barrier(CLK_LOCAL_MEM_FENCE);)
    uint second = NAME(sum)(sums, x[i] & 3);
    y[i] = first + 1000 * second;
}

// A partial sum of each wave, added up by the first work-item.
kernel void NAME(wave_sums)(const global uint *x, global uint *y) {
    local uint sums[4];
    uint l = get_local_id(0), first = get_group_id(0) * 256;
    if (l % 64 == 0) {
        uint sum = 0;
        for (uint k = 0; k < 64; k++)
            sum += x[first + l + k];
        sums[l / 64] = sum;
    }
    REPAIR(barrier(CLK_LOCAL_MEM_FENCE);)
    if (l == 0)
        y[get_group_id(0)] = sums[0] + sums[1] + sums[2] + sums[3];
}

// Hillis and Steele's scan in one array.
kernel void NAME(scan_steps)(const global uint *x, global uint *y) {
    local uint sums[128];
    uint l = get_local_id(0), i = get_global_id(0);
    sums[l] = x[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint d = 1; d < 128; d *= 2) {
        uint other = l < d ? 0 : sums[l - d];
        REPAIR(barrier(CLK_LOCAL_MEM_FENCE);)
        sums[l] += other;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    y[i] = sums[l];
}

// Blelloch's exclusive scan: the sweep up has no barriers.
kernel void NAME(scan_sweeps)(const global uint *x, global uint *y) {
    local uint sums[256];
    uint l = get_local_id(0), first = get_group_id(0) * 256;
    sums[2 * l] = x[first + 2 * l];
    sums[2 * l + 1] = x[first + 2 * l + 1];
    for (uint d = 1; d < 256; d *= 2) {
        REPAIR(barrier(CLK_LOCAL_MEM_FENCE);)
        if (l < 128 / d)
            sums[d * (2 * l + 2) - 1] += sums[d * (2 * l + 1) - 1];
    }
    if (l == 0)
        sums[255] = 0;
    for (uint d = 128; d > 0; d /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (l < 128 / d) {
            uint low = d * (2 * l + 1) - 1, high = low + d, sum = sums[low];
            sums[low] = sums[high];
            sums[high] += sum;
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    y[first + l] = sums[l];
    y[first + 128 + l] = sums[128 + l];
}

// Waves read the totals of earlier waves out of the array to which each adds them.
kernel void NAME(scan_totals)(const global uint *x, global uint *y) {
    local uint sums[256];
    uint l = get_local_id(0), i = get_global_id(0), before = 0;
    sums[l] = x[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l % 64 == 0) {
        for (uint k = 1; k < 64; k++)
            sums[l + k] += sums[l + k - 1];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint last = 63; last < l; last += 64)
        before += sums[last];
    REPAIR(barrier(CLK_LOCAL_MEM_FENCE);)
    sums[l] += before;
    y[i] = sums[l];
}
