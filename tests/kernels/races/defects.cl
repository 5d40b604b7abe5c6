// Defects other than races, one in each kernel.

// Lanes of one store write different values to a word.
kernel void lanes_collide(global uint *y) {
    uint l = get_local_id(0);
    y[l / 2] = l;
}

// The same for LDS, whose element 0 only one wave stores.
kernel void lanes_collide_in_lds(global uint *y) {
    local uint word[2];
    uint l = get_local_id(0);
    word[l / 64] = l;
    barrier(CLK_LOCAL_MEM_FENCE);
    y[l] = word[l / 64];
}

// One element more than there is.
kernel void past_the_end(global uint *y, uint n) {
    if (get_global_id(0) == 0)
        y[n] = 1;
}

// LDS that nobody has written, and behind its end.
kernel void unwritten(global uint *y, local uint *words, uint n) {
    y[get_global_id(0)] = words[0];
}

kernel void past_the_lds(global uint *y, local uint *words, uint n) {
    words[n] = get_local_id(0);
    barrier(CLK_LOCAL_MEM_FENCE);
    y[get_global_id(0)] = words[n];
}

// The same through FLAT, which faults.
kernel void past_the_lds_by_flat(global uint *y, local uint *words, uint n) {
    uint l = get_local_id(0);
    generic uint *to = l % 2 ? (generic uint *)&words[n] : (generic uint *)&y[l];
    *to = l;
}

// Each wave has a barrier of its own.
kernel void two_barriers(global uint *y) {
    local uint words[2];
    uint l = get_local_id(0), wave = __builtin_amdgcn_readfirstlane(l / 64);
    words[wave] = l / 64;
    if (wave == 0) {
        barrier(CLK_LOCAL_MEM_FENCE);
        y[l] = words[1] + 1;
    } else {
        barrier(CLK_LOCAL_MEM_FENCE);
        y[l] = words[0] + 2;
    }
}

// Half of the lanes are not at the barrier.
kernel void half_a_wave(global uint *y) {
    local uint words[2];
    uint l = get_local_id(0);
    y[l] = 0;
    if (l % 2 == 0) {
        words[l / 64] = l / 64;
        barrier(CLK_LOCAL_MEM_FENCE);
        y[l] = words[l / 64];
    }
}

// Lanes of one atomic change LDS and global memory.
kernel void mixed(global uint *y) {
    local uint word;
    uint l = get_local_id(0);
    if (l == 0)
        word = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    generic uint *to = l % 2 ? (generic uint *)&word : (generic uint *)&y[0];
    atomic_fetch_add_explicit((generic atomic_uint *)to, 1, memory_order_relaxed, memory_scope_work_group);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l == 0)
        y[1] = word;
}

// The order of workgroups decides.
kernel void order(global uint *y) {
    if (get_local_id(0) == 0)
        atomic_xchg(&y[0], (uint)get_group_id(0) + 1);
}
