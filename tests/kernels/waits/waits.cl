// Workgroups that wait for others, and long loops that only look so. `words` has 64 elements, all 0 at first.

// Workgroup 0 waits for the last one: one work-item polls, the others are at the barrier.
kernel void later(volatile global int *words, uint n) {
    if (get_group_id(0) == 0) {
        if (get_local_id(0) == 0)
            while (words[0] == 0)
                ;
        barrier(CLK_LOCAL_MEM_FENCE);
        words[1] = 1;
    } else if (get_group_id(0) == get_num_groups(0) - 1) {
        // A time that others must wait for.
        uint x = get_local_id(0);
        for (uint i = 0; i < n; i++)
            x = x * 1664525 + 1013904223 + (uint)words[2];
        words[3] = (int)x;
        mem_fence(CLK_GLOBAL_MEM_FENCE);
        words[0] = 1;
    }
}

// A barrier of the grid: the waves of a workgroup poll by an atomic that changes nothing.
kernel void grid_barrier(volatile global int *words, uint n) {
    if (get_local_id(0) == 0)
        atomic_add(words, 1);
    while (atomic_cmpxchg(words, (int)n, (int)n) < (int)n)
        ;
    words[1] = 1;
}

// The same in a loop with barriers, which polls more and more seldom up to a limit.
kernel void barrier_loop(volatile global int *words, uint n) {
    local volatile int seen;
    uint backoff = 1;
    if (get_local_id(0) == 0)
        atomic_add(words, 1);
    do {
        if (get_local_id(0) == 0) {
            for (uint i = 0; i < backoff; i++)
                words[4];
            seen = words[0];
        }
        backoff = min(backoff + 1, 9u);
        barrier(CLK_LOCAL_MEM_FENCE);
        int now = seen;
        barrier(CLK_LOCAL_MEM_FENCE);
        if (now >= (int)n)
            break;
    } while (true);
    words[1] = 1;
}

// Waits for a later workgroup through a private array, whose elements are in scratch.
kernel void through_scratch(volatile global int *words, uint n) {
    volatile int mine[8];
    mine[n & 7] = 1;
    if (get_group_id(0) == 0) {
        do
            mine[n & 7] = words[get_local_id(0) & 1];
        while (mine[n & 7] == 0);
    } else {
        words[get_local_id(0) & 1] = 1;
    }
}

// Computes, and reads the same word again and again.
kernel void computes(volatile global int *words, uint n) {
    uint x = get_local_id(0);
    for (uint i = 0; i < n; i++)
        x = x * 1664525 + 1013904223 + (uint)words[2];
    words[4 + get_global_id(0) % 32] = (int)x;
}

// Counts in global memory; between two iterations all registers are the same.
kernel void counts_in_memory(volatile global int *words, uint n) {
    while ((uint)words[0] < n)
        atomic_add(words, 1);
    words[1] = 1;
}

// Counts in scratch, and reads global memory.
kernel void counts_in_scratch(volatile global int *words, uint n) {
    volatile uint mine[8];
    mine[n & 7] = 0;
    while (mine[n & 7] < n)
        mine[n & 7] = mine[n & 7] + 1 + (uint)words[2];
    words[1] = (int)mine[n & 7];
}

// Counts in LDS, and reads global memory.
kernel void counts_in_lds(volatile global int *words, uint n) {
    local volatile uint shared[64];
    shared[get_local_id(0)] = 0;
    while (shared[get_local_id(0)] < n)
        shared[get_local_id(0)] = shared[get_local_id(0)] + 1 + (uint)words[2];
    words[1] = (int)shared[get_local_id(0)];
}

// Reads no memory in a loop that never ends.
kernel void spins(volatile global int *words, uint n) {
    while (n != 0)
        barrier(CLK_LOCAL_MEM_FENCE);
    words[1] = 1;
}

// Workgroup 0 waits for what nobody writes: one work-item polls, the others are at the barrier. The other
// workgroups wait for workgroup 0, each work-item for itself.
kernel void deadlock(volatile global int *words, uint n) {
    if (get_group_id(0) == 0) {
        if (get_local_id(0) == 0)
            while (words[0] == 0)
                ;
        barrier(CLK_LOCAL_MEM_FENCE);
        words[1] = 1;
    } else {
        while (atomic_add(words + 1, 0) == 0)
            ;
    }
}

// Waits for ever; all registers and everything that is read are the same again and again, but one workgroup wakes the
// other. The reads of workgroup 0 are counted.
kernel void ping_pong(volatile global int *words, uint n) {
    int own = (int)get_group_id(0) & 1;
    if (get_local_id(0) != 0 || get_group_id(0) > 1)
        return;
    while (true) {
        while (words[0] != own)
            if (words[1] != 0)
                return;
        if (own == 0 && (uint)atomic_inc(words + 2) == n) {
            words[1] = 1;
            return;
        }
        words[0] = 1 - own;
    }
}
