// Waves of a workgroup that pass values to each other, in LDS and in global memory, in functions and through generic pointers.
#include "pair.h"

// Wave 0 produces, wave 1 consumes.
kernel void NAME(producer)(const global uint *x, global uint *y) {
    local uint items[64];
    uint l = get_local_id(0), k = l % 64, first = get_group_id(0) * 64, sum = 0;
    for (uint round = 0; round < 4; round++) {
        if (l < 64)
            items[k] = x[first + k] * (round + 1);
        REPAIR(barrier(CLK_LOCAL_MEM_FENCE);)
        if (l >= 64)
            sum += items[k] + round;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (l >= 64)
        y[first + k] = sum;
}

// Wave 1 waits a while for a volatile flag instead of a barrier, and wave 0 sets it too early.
kernel void NAME(lds_flag)(const global uint *x, global uint *y) {
    local uint items[64];
    volatile local uint ready;
    uint l = get_local_id(0), k = l % 64, first = get_group_id(0) * 64;
    if (l == 64)
        ready = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l < 64) {
        ready = 1;
        items[k] = x[first + k];
    }
    REPAIR(barrier(CLK_LOCAL_MEM_FENCE);)
    if (l >= 64) {
        for (uint tries = 0; tries < 100 && !ready; tries++) {
        }
        y[first + k] = items[k];
    }
}

// The other wave may poll the flag before it has a value.
kernel void NAME(lds_first_value)(const global uint *x, global uint *y) {
    local uint items[64];
    local atomic_uint ready;
    uint l = get_local_id(0), k = l % 64, first = get_group_id(0) * 64;
    if (l == 0)
        atomic_init(&ready, 0);
    REPAIR(barrier(CLK_LOCAL_MEM_FENCE);)
    if (l < 64) {
        items[k] = x[first + k] + 7;
        atomic_store_explicit(&ready, 1, memory_order_release, memory_scope_work_group);
    } else {
        for (uint tries = 0; tries < 1000; tries++)
            if (atomic_load_explicit(&ready, memory_order_acquire, memory_scope_work_group) == 1)
                break;
        y[first + k] = items[63 - k];
    }
}

// The other wave may add to the counter before it has a value.
kernel void NAME(lds_first_count)(const global uint *x, global uint *y) {
    local uint count;
    if (get_local_id(0) == 0)
        count = 0;
    REPAIR(barrier(CLK_LOCAL_MEM_FENCE);)
    if (atomic_inc(&count) == get_local_size(0) - 1)
        y[get_group_id(0)] = x[get_group_id(0)] + 2;
}

// A fence orders a wave's own accesses; it waits for no other wave.
kernel void NAME(lds_fence)(const global uint *x, global uint *y) {
    local uint tile[128];
    uint l = get_local_id(0), i = get_global_id(0);
    tile[l] = x[i];
    EITHER(mem_fence(CLK_LOCAL_MEM_FENCE), barrier(CLK_LOCAL_MEM_FENCE));
    y[i] = tile[l ^ 64];
}

kernel void NAME(global_exchange)(const global uint *x, global uint *y, global uint *scratch) {
    uint i = get_global_id(0);
    scratch[i] = x[i];
    REPAIR(barrier(CLK_GLOBAL_MEM_FENCE);)
    y[i] = scratch[i ^ 64] + x[i];
}

kernel void NAME(global_tree)(const global uint *x, global uint *y, global uint *scratch) {
    uint l = get_local_id(0);
    global uint *sums = scratch + get_group_id(0) * 256;
    sums[l] = x[get_global_id(0)];
    for (uint s = 128; s > 0; s /= 2) {
        REPAIR(barrier(CLK_GLOBAL_MEM_FENCE);)
        if (l < s)
            sums[l] += sums[l + s];
    }
    if (l == 0)
        y[get_group_id(0)] = sums[0];
}

// Two arrays alternate; each step reads what the other wave stored in the step before.
kernel void NAME(global_steps)(const global uint *x, global uint *y, global uint *scratch) {
    uint i = get_global_id(0), n = get_global_size(0);
    scratch[i] = x[i];
    for (uint k = 0; k < 4; k++) {
        barrier(CLK_GLOBAL_MEM_FENCE);
        uint value = scratch[k % 2 * n + (i ^ 127)];
        REPAIR(barrier(CLK_GLOBAL_MEM_FENCE);)
        scratch[(EITHER(k, k + 1)) % 2 * n + i] = value + k;
    }
    y[i] = scratch[i];
}

// A pointer that may be to LDS or to global memory: here to LDS.
kernel void NAME(generic_tile)(const global uint *x, global uint *y, global uint *scratch, uint in_lds) {
    local uint tile[128];
    uint l = get_local_id(0), i = get_global_id(0);
    uint *exchange = in_lds ? (uint *)tile : (uint *)(scratch + get_group_id(0) * 128);
    tile[l] = 0;
    exchange[l] = x[i];
    REPAIR(barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);)
    y[i] = exchange[l ^ 127];
}

// The same: here to global memory.
kernel void NAME(generic_scratch)(const global uint *x, global uint *y, global uint *scratch, uint in_lds) {
    local uint tile[128];
    uint l = get_local_id(0), i = get_global_id(0);
    uint *exchange = in_lds ? (uint *)tile : (uint *)(scratch + get_group_id(0) * 128);
    tile[l] = 0;
    exchange[l] = x[i];
    REPAIR(barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);)
    y[i] = exchange[(l + 64) % 128];
}

// Wave 0 stores through a generic pointer, wave 1 loads from LDS.
kernel void NAME(generic_and_local)(const global uint *x, global uint *y, uint in_lds) {
    local uint tile[64];
    uint l = get_local_id(0), k = l % 64, first = get_group_id(0) * 64;
    uint *items = in_lds ? (uint *)tile : (uint *)y;
    if (l < 64) {
        tile[k] = 0;
        items[k] = x[first + k] + 5;
    }
    REPAIR(barrier(CLK_LOCAL_MEM_FENCE);)
    if (l >= 64)
        y[first + k] = tile[63 - k];
}

__attribute__((noinline)) static void NAME(put)(local uint *tile, uint at, uint value) {
    tile[at] = value * 3;
}

__attribute__((noinline)) static uint NAME(get)(const local uint *tile, uint at) {
    return tile[at] + 1;
}

kernel void NAME(call_exchange)(const global uint *x, global uint *y) {
    local uint tile[128];
    uint l = get_local_id(0), i = get_global_id(0);
    NAME(put)(tile, l, x[i]);
    REPAIR(barrier(CLK_LOCAL_MEM_FENCE);)
    y[i] = NAME(get)(tile, 127 - l);
}

__attribute__((noinline)) static void NAME(count)(global uint *counter, uint value) {
    EITHER(*counter += value, atomic_add(counter, value));
}

// Workgroups count in a function.
kernel void NAME(call_count)(const global uint *x, global uint *y) {
    if (get_local_id(0) == 0)
        NAME(count)(&y[get_group_id(0) % 2], x[get_group_id(0)]);
}
