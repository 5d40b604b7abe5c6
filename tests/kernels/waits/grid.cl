// Workgroups that depend on others, in programs that are common on GPUs. `words` are 0 at first.

#define FENCE() atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_seq_cst, memory_scope_device)

// A barrier of the grid by a counter, `n` times, with an exchange of data between neighbours. words[0] is the
// counter, words[16..] have two numbers for each workgroup. Each adds what its neighbour had.
kernel void barriers(volatile global uint *words, uint n) {
    uint groups = get_num_groups(0), group = get_group_id(0);
    volatile global uint *now = words + 16, *next = words + 16 + groups;
    if (get_local_id(0) == 0)
        now[group] = group + 1;
    for (uint round = 1; round <= n; round++) {
        barrier(CLK_GLOBAL_MEM_FENCE);
        if (get_local_id(0) == 0) {
            FENCE();
            atomic_inc(words);
            while (atomic_add(words, 0) < 2 * groups * (round - 1) + groups)
                ;
            FENCE();
            next[group] = now[group] + now[(group + 1) % groups];
            FENCE();
            atomic_inc(words);
            while (atomic_add(words, 0) < 2 * groups * round)
                ;
            FENCE();
        }
        barrier(CLK_GLOBAL_MEM_FENCE);
        volatile global uint *other = now;
        now = next;
        next = other;
    }
}

// Persistent threads: workgroups take items from a queue and put new ones there, until `n` items were processed.
// words[0] is the head, words[1] the tail, words[2] the number of processed items, words[3] their sum; the queue is
// in words[16..]. Item i adds items 2i + 1 and 2i + 2.
kernel void queue(volatile global uint *words, uint n) {
    local uint item;
    if (get_global_id(0) == 0) {
        words[16] = 1;
        FENCE();
        words[1] = 1;
    }
    while (true) {
        if (get_local_id(0) == 0) {
            uint head = atomic_inc(words);
            if (head >= n) {
                item = UINT_MAX;
            } else {
                while (atomic_add(words + 16 + head, 0) == 0)
                    ;
                FENCE();
                item = head;
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        uint mine = item;
        barrier(CLK_LOCAL_MEM_FENCE);
        if (mine == UINT_MAX)
            return;
        if (get_local_id(0) == 0) {
            atomic_add(words + 3, mine);
            for (uint i = 2 * mine + 1; i <= 2 * mine + 2 && i < n; i++)
                words[16 + i] = i + 1;
            FENCE();
            atomic_inc(words + 2);
        }
    }
}

// A ticket lock: each workgroup enters `n` times. words[0] is the next ticket, words[1] the one served, words[2]
// what it protects.
kernel void tickets(volatile global uint *words, uint n) {
    if (get_local_id(0) != 0)
        return;
    for (uint i = 0; i < n; i++) {
        uint mine = atomic_inc(words);
        while (atomic_add(words + 1, 0) != mine)
            ;
        FENCE();
        uint before = words[2];
        for (uint k = 0; k < 10; k++)
            words[3] = k;
        words[2] = before + 1;
        FENCE();
        atomic_inc(words + 1);
    }
}

// Pairs of workgroups: one sends `n` numbers through one word, the other adds them up. words[15] says whether the
// first of a pair sends. Each pair has a cache line from words[16] on.
kernel void pairs(volatile global uint *words, uint n) {
    uint pair = get_group_id(0) / 2;
    volatile global uint *slot = words + 16 + 16 * pair;
    if (get_local_id(0) != 0)
        return;
    bool sends = (get_group_id(0) & 1) == (words[15] != 0 ? 0 : 1);
    for (uint i = 1; i <= n; i++) {
        if (sends) {
            while (atomic_add(slot, 0) != 0)
                ;
            slot[1] = i * (pair + 1);
            FENCE();
            atomic_xchg(slot, 1);
        } else {
            while (atomic_add(slot, 0) == 0)
                ;
            FENCE();
            slot[2] += slot[1];
            FENCE();
            atomic_xchg(slot, 0);
        }
    }
}

// A scan with decoupled look-back in the reverse order of workgroups: each waits for those above it. The value of a
// workgroup is its number; words[16 + 2g] is 1 when its own value is known, 2 when the sum of it and those above is.
kernel void look_back(volatile global uint *words, uint n) {
    if (get_local_id(0) != 0)
        return;
    uint group = get_group_id(0), groups = get_num_groups(0);
    volatile global uint *own = words + 16 + 2 * group;
    own[1] = group;
    FENCE();
    atomic_xchg(own, 1);
    uint sum = group;
    for (uint above = group + 1; above < groups; above++) {
        volatile global uint *other = words + 16 + 2 * above;
        uint state;
        while ((state = atomic_add(other, 0)) == 0)
            ;
        FENCE();
        if (state == 2) {
            sum += atomic_add(other + 1, 0);
            break;
        }
        sum += above;
    }
    atomic_xchg(own + 1, sum);
    FENCE();
    atomic_xchg(own, 2);
}

// A barrier of the grid in hardware, `n` times. words[16 + g] is each workgroup's round.
kernel void wave_sync(volatile global uint *words, uint n) {
    uint group = get_group_id(0), groups = get_num_groups(0);
    if (get_global_id(0) == 0) {
        __builtin_amdgcn_ds_gws_init(groups - 1, 3);
        FENCE();
        atomic_xchg(words, 1);
    }
    if (get_local_id(0) == 0)
        while (atomic_add(words, 0) == 0)
            ;
    barrier(CLK_GLOBAL_MEM_FENCE);
    for (uint round = 1; round <= n; round++) {
        if (get_local_id(0) == 0) {
            words[16 + group] = round;
            FENCE();
            __builtin_amdgcn_ds_gws_barrier(groups - 1, 3);
            FENCE();
            if (words[16 + (group + 1) % groups] != round)
                atomic_inc(words + 1);
            __builtin_amdgcn_ds_gws_barrier(groups - 1, 3);
        }
        barrier(CLK_GLOBAL_MEM_FENCE);
    }
}

// Each wave waits at a semaphore in hardware, which nobody raises.
kernel void wave_sync_alone(volatile global uint *words, uint n) {
    __builtin_amdgcn_ds_gws_sema_p(4);
    words[0] = 1;
}

// Lets one wave pass the semaphore.
kernel void wave_sync_allow(volatile global uint *words, uint n) {
    __builtin_amdgcn_ds_gws_init(1, 4);
}
