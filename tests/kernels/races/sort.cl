// Sorting, and histograms and lists in LDS.
#include "pair.h"

kernel void NAME(bitonic)(const global uint *x, global uint *y) {
    local uint keys[128];
    uint l = get_local_id(0), i = get_global_id(0);
    keys[l] = x[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint size = 2; size <= 128; size *= 2) {
        for (uint step = size / 2; step > 0; step /= 2) {
            uint other = l ^ step;
            if (other > l) {
                uint low = min(keys[l], keys[other]), high = max(keys[l], keys[other]);
                keys[l] = l & size ? high : low;
                keys[other] = l & size ? low : high;
            }
            REPAIR(barrier(CLK_LOCAL_MEM_FENCE);)
        }
    }
    y[i] = keys[l];
}

kernel void NAME(odd_even)(const global uint *x, global uint *y) {
    local uint keys[256];
    uint l = get_local_id(0), first = get_group_id(0) * 256;
    keys[l] = x[first + l];
    keys[l + 128] = x[first + l + 128];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint phase = 0; phase < 256; phase++) {
        uint k = 2 * l + phase % 2;
        if (k + 1 < 256) {
            uint low = min(keys[k], keys[k + 1]), high = max(keys[k], keys[k + 1]);
            keys[k] = low;
            keys[k + 1] = high;
        }
        REPAIR(barrier(CLK_LOCAL_MEM_FENCE);)
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    y[first + l] = keys[l];
    y[first + l + 128] = keys[l + 128];
}

// Stores keys at their ranks into the array that other waves still count.
kernel void NAME(rank_sort)(const global uint *x, global uint *y) {
    local uint keys[128];
    uint l = get_local_id(0), i = get_global_id(0), key = x[i], rank = 0;
    keys[l] = key;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint k = 0; k < 128; k++)
        rank += keys[k] < key || (keys[k] == key && k < l);
    REPAIR(barrier(CLK_LOCAL_MEM_FENCE);)
    keys[rank] = key;
    barrier(CLK_LOCAL_MEM_FENCE);
    y[i] = keys[l];
}

kernel void NAME(histogram_plain)(const global uint *x, global uint *y) {
    local uint bins[16];
    uint l = get_local_id(0), bin = x[get_global_id(0)] % 16;
    if (l < 16)
        bins[l] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    EITHER(bins[bin]++, atomic_inc(&bins[bin]));
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l < 16)
        atomic_add(&y[l], bins[l]);
}

kernel void NAME(histogram_clear)(const global uint *x, global uint *y) {
    local uint bins[16];
    uint l = get_local_id(0), bin = x[get_global_id(0)] % 16;
    if (l < 16)
        bins[l] = 0;
    REPAIR(barrier(CLK_LOCAL_MEM_FENCE);)
    atomic_inc(&bins[bin]);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l < 16)
        atomic_add(&y[l], bins[l]);
}

kernel void NAME(histogram_read)(const global uint *x, global uint *y) {
    local uint bins[16];
    uint l = get_local_id(0), bin = x[get_global_id(0)] % 16;
    if (l < 16)
        bins[l] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_inc(&bins[bin]);
    REPAIR(barrier(CLK_LOCAL_MEM_FENCE);)
    if (l < 16)
        atomic_add(&y[l], bins[l]);
}

// The first work-item resets the counter that other waves still read.
kernel void NAME(counter_reset)(const global uint *x, global uint *y) {
    local uint count;
    uint l = get_local_id(0), i = get_global_id(0), sum = 0;
    if (l == 0)
        count = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint k = 0; k < 4; k++) {
        if (x[i] >> k & 1)
            atomic_inc(&count);
        barrier(CLK_LOCAL_MEM_FENCE);
        sum += count << k;
        REPAIR(barrier(CLK_LOCAL_MEM_FENCE);)
        if (l == 0)
            count = 0;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    y[i] = sum;
}

kernel void NAME(lds_maximum)(const global uint *x, global uint *y) {
    local uint greatest;
    uint l = get_local_id(0), value = x[get_global_id(0)];
    if (l == 0)
        greatest = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    EITHER(greatest = max(greatest, value), atomic_max(&greatest, value));
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l == 0)
        y[get_group_id(0)] = greatest;
}

// Appends odd values to a list.
kernel void NAME(lds_append)(const global uint *x, global uint *y) {
    local uint count, list[128];
    uint l = get_local_id(0), value = x[get_global_id(0)], sum = 0;
    if (l == 0)
        count = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (value % 2) {
        uint place = EITHER(count++, atomic_inc(&count));
        list[place] = value;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l == 0) {
        for (uint k = 0; k < count; k++)
            sum += list[k];
        y[get_group_id(0)] = sum;
    }
}

// The first work-item sets its bit without an atomic operation.
kernel void NAME(lds_mask)(const global uint *x, global uint *y) {
    local uint seen;
    uint l = get_local_id(0), bit = 1u << x[get_global_id(0)] % 31;
    if (l == 0)
        seen = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l == 0)
        EITHER(seen |= 1u << 31, atomic_or(&seen, 1u << 31));
    else
        atomic_or(&seen, bit);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l == 0)
        y[get_group_id(0)] = seen;
}
