// Barriers on which something depends, and others, for the rule `redundant-barrier`.

#define BARRIER() barrier(CLK_LOCAL_MEM_FENCE)

// The second barrier is redundant: behind it each wave loads what it has stored.
kernel void one_of_two(const global uint *x, global uint *y) {
    local uint tile[128];
    uint l = get_local_id(0), i = get_global_id(0);
    tile[l] = x[i];
    BARRIER();
    uint other = tile[127 - l];
    BARRIER();
    y[i] = other;
}

// The only barrier is that of a loop; waves exchange what they have stored.
kernel void in_a_loop(const global uint *x, global uint *y, uint n) {
    local uint tile[2][128];
    uint l = get_local_id(0), i = get_global_id(0), value = x[i];
#pragma unroll 1
    for (uint k = 0; k < n; k++) {
        tile[k % 2][l] = value;
        BARRIER();
        value += tile[k % 2][127 - l];
    }
    y[i] = value;
}

// Two executions separate the store and the load.
kernel void two_executions(const global uint *x, global uint *y, uint n) {
    local uint tile[128];
    uint l = get_local_id(0), i = get_global_id(0), other = 0;
#pragma unroll 1
    for (uint k = 0; k <= n; k++) {
        if (k == 0)
            tile[l] = x[i];
        else if (k == n)
            other = tile[127 - l];
        if (k != n)
            BARRIER();
    }
    y[i] = other;
}

// Only atomics of the waves are in front of the first barrier and behind it. The second one is redundant.
kernel void between_atomics(const global uint *x, global uint *y) {
    uint i = get_global_id(0);
    atomic_add(&y[0], x[i]);
    BARRIER();
    atomic_max(&y[0], x[i]);
    BARRIER();
    y[1 + i] = x[i];
}

// Either of two barriers may be deleted, but not both.
kernel void either(const global uint *x, global uint *y) {
    local uint tile[128];
    uint l = get_local_id(0), i = get_global_id(0);
    tile[l] = x[i];
    BARRIER();
    y[128 + i] = x[i];
    BARRIER();
    y[i] = tile[127 - l];
}

// The barrier is for the store of the flag, by which another workgroup learns of the words.
kernel void before_a_flag(const global uint *x, global uint *y, global uint *flag) {
    uint l = get_local_id(0), group = get_group_id(0), value = x[get_global_id(0)];
    volatile global atomic_uint *set = (volatile global atomic_uint *)flag;
    if (group == 0) {
        y[l] = value;
        barrier(CLK_GLOBAL_MEM_FENCE);
        if (l == 0)
            atomic_store_explicit(set, 1, memory_order_release, memory_scope_device);
    } else {
        while (atomic_load_explicit(set, memory_order_acquire, memory_scope_device) == 0)
            ;
        y[128 + l] = y[127 - l] + value;
    }
}
