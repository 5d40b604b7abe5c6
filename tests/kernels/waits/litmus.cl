// Litmus tests: two workgroups, each lane with cells of its own. Each of `n` rounds begins when both have arrived.
// words[0] counts arrivals, words[1] the forbidden outcomes, words[2] rounds in which the other's store was seen; the
// cells begin at words[64]. Cells of a round are not used again.

#define RELAXED(operation, ...) atomic_##operation##_explicit(__VA_ARGS__, memory_order_relaxed, memory_scope_device)
#define FENCE(order) atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_##order, memory_scope_device)

typedef volatile global atomic_uint cell;

static void meet(cell *count, uint round) {
    barrier(CLK_GLOBAL_MEM_FENCE);
    if (get_local_id(0) == 0) {
        RELAXED(fetch_add, count, 1);
        while (RELAXED(load, count) < 2 * round)
            ;
    }
    barrier(CLK_GLOBAL_MEM_FENCE);
}

#define LITMUS(name, body)                                                                                             \
    kernel void name(volatile global uint *words, uint n) {                                                            \
        cell *count = (cell *)words;                                                                                   \
        uint side = get_group_id(0), lane = get_local_id(0);                                                           \
        for (uint round = 1; round <= n; round++) {                                                                    \
            cell *x = (cell *)words + 64 + 4 * (64 * (round - 1) + lane);                                              \
            cell *y = x + 1, *seen_by_first = x + 2, *seen_by_second = x + 3;                                          \
            meet(count, 2 * round - 1);                                                                                \
            body;                                                                                                      \
            meet(count, 2 * round);                                                                                    \
        }                                                                                                              \
    }

#define BAD(condition)                                                                                                 \
    if (condition)                                                                                                     \
    RELAXED(fetch_add, count + 1, 1)
#define SEEN(condition)                                                                                                \
    if (condition)                                                                                                     \
    RELAXED(fetch_add, count + 2, 1)

// Message passing: who sees the flag sees the message.
LITMUS(message_passing, {
    if (side == 0) {
        RELAXED(store, x, 1);
        FENCE(release);
        RELAXED(store, y, 1);
    } else {
        uint flag = RELAXED(load, y);
        FENCE(acquire);
        uint message = RELAXED(load, x);
        BAD(flag == 1 && message == 0);
        SEEN(flag == 1);
    }
})

// The same by an atomic, and a message of plain memory.
LITMUS(message_by_atomic, {
    volatile global uint *plain = (volatile global uint *)x;
    if (side == 0) {
        *plain = 1;
        atomic_fetch_add_explicit(y, 1, memory_order_release, memory_scope_device);
    } else {
        uint flag = atomic_fetch_add_explicit(y, 0, memory_order_acquire, memory_scope_device);
        uint message = *plain;
        BAD(flag == 1 && message == 0);
        SEEN(flag == 1);
    }
})

// Store buffering: one of both sees the other's store.
LITMUS(store_buffering, {
    RELAXED(store, side == 0 ? x : y, 1);
    FENCE(seq_cst);
    uint other = RELAXED(load, side == 0 ? y : x);
    RELAXED(store, side == 0 ? seen_by_first : seen_by_second, other + 1);
    meet(count + 16, round);
    if (side == 0) {
        uint first = RELAXED(load, seen_by_first);
        uint second = RELAXED(load, seen_by_second);
        BAD(first == 1 && second == 1);
        SEEN(first == 2 || second == 2);
    }
})

// Load buffering: not both see what the other stores after its own load.
LITMUS(load_buffering, {
    uint other = RELAXED(load, side == 0 ? y : x);
    FENCE(acq_rel);
    RELAXED(store, side == 0 ? x : y, 1);
    RELAXED(store, side == 0 ? seen_by_first : seen_by_second, other + 1);
    meet(count + 16, round);
    if (side == 0) {
        uint first = RELAXED(load, seen_by_first);
        uint second = RELAXED(load, seen_by_second);
        BAD(first == 2 && second == 2);
        SEEN(first == 2 || second == 2);
    }
})

// Coherence: two loads of one place never see its stores in the other order.
LITMUS(coherence, {
    if (side == 0) {
        for (uint value = 1; value <= 4; value++)
            RELAXED(store, x, value);
    } else {
        uint before = RELAXED(load, x);
        for (uint i = 0; i < 4; i++) {
            uint now = RELAXED(load, x);
            BAD(now < before);
            before = now;
        }
        SEEN(before != 0);
    }
})

// Eight bytes of a lane are stored and loaded in one piece.
LITMUS(eight_bytes, {
    volatile global uint2 *pair = (volatile global uint2 *)x;
    for (uint i = 1; i <= 4; i++) {
        if (side == 0) {
            *pair = (uint2)(i, i);
        } else {
            uint2 now = *pair;
            BAD(now.x != now.y);
            SEEN(now.x != 0);
        }
    }
})

// Sixteen bytes.
LITMUS(sixteen_bytes, {
    volatile global uint4 *four = (volatile global uint4 *)x;
    for (uint i = 1; i <= 4; i++) {
        if (side == 0) {
            *four = (uint4)(i, i, i, i);
        } else {
            uint4 now = *four;
            BAD(now.x != now.y || now.x != now.z || now.x != now.w);
            SEEN(now.x != 0);
        }
    }
})

// Message passing through LDS between the two waves of a workgroup: n is as above, but each workgroup does it alone.
kernel void in_lds(volatile global uint *words, uint n) {
    local volatile uint message[64], flag[64];
    local volatile uint2 pairs[64];
    uint wave = get_local_id(0) / 64, lane = get_local_id(0) % 64;
    for (uint round = 1; round <= n; round++) {
        if (wave == 0) {
            message[lane] = round;
            pairs[lane] = (uint2)(round, round);
            mem_fence(CLK_LOCAL_MEM_FENCE);
            flag[lane] = round;
        } else {
            while (flag[lane] != round)
                ;
            mem_fence(CLK_LOCAL_MEM_FENCE);
            uint2 pair = pairs[lane];
            if (message[lane] != round || pair.x != round || pair.y != round)
                atomic_inc(words + 1);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (get_global_id(0) == 0)
        words[2] = n;
}
