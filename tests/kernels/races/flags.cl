// Workgroups that wait for each other: atomic operations without the fences that order other accesses.
// The racy kernels leave their polling loops after a number of iterations.
#include "pair.h"

#define ATOMIC(word) ((volatile global atomic_uint *)(word))
#define LOAD(word, order) atomic_load_explicit(ATOMIC(word), order, memory_scope_device)
#define STORE(word, value, order) atomic_store_explicit(ATOMIC(word), value, order, memory_scope_device)
#define ADD(word, value, order) atomic_fetch_add_explicit(ATOMIC(word), value, order, memory_scope_device)
#define ITERATIONS 1000

static void NAME(wait)(volatile global uint *word, uint value, memory_order order) {
#ifdef RACY
    for (uint tries = 0; tries < ITERATIONS && LOAD(word, order) != value; tries++) {
    }
#else
    while (LOAD(word, order) != value) {
    }
#endif
}

// The flag does not wait for the data.
kernel void NAME(no_release)(const global uint *x, global uint *y, global uint *data, global uint *flags) {
    uint l = get_local_id(0), pair = get_group_id(0) / 2, i = pair * 64 + l;
    if (get_group_id(0) % 2 == 0) {
        data[i] = x[i] + 3;
        STORE(&flags[pair], 1, EITHER(memory_order_relaxed, memory_order_release));
    } else {
        NAME(wait)(&flags[pair], 1, memory_order_acquire);
        y[i] = data[i];
    }
}

// The data may be old ones in L1.
kernel void NAME(no_acquire)(const global uint *x, global uint *y, global uint *data, global uint *flags) {
    uint l = get_local_id(0), pair = get_group_id(0) / 2, i = pair * 64 + l;
    if (get_group_id(0) % 2 == 0) {
        data[i] = x[i] + 4;
        STORE(&flags[pair], 1, memory_order_release);
    } else {
        NAME(wait)(&flags[pair], 1, EITHER(memory_order_relaxed, memory_order_acquire));
        y[i] = data[i];
    }
}

// A release for the workgroup is none for others.
kernel void NAME(narrow_release)(const global uint *x, global uint *y, global uint *data, global uint *flags) {
    uint l = get_local_id(0), pair = get_group_id(0) / 2, i = pair * 64 + l;
    if (get_group_id(0) % 2 == 0) {
        data[i] = x[i] + 5;
        atomic_store_explicit(ATOMIC(&flags[pair]), 1, memory_order_release,
                              EITHER(memory_scope_work_group, memory_scope_device));
    } else {
        NAME(wait)(&flags[pair], 1, memory_order_acquire);
        y[i] = data[i];
    }
}

// A volatile flag orders nothing else.
kernel void NAME(volatile_flag)(const global uint *x, global uint *y, global uint *data, volatile global uint *flags) {
    uint l = get_local_id(0), pair = get_group_id(0) / 2, i = pair * 64 + l;
    if (get_group_id(0) % 2 == 0) {
        data[i] = x[i] + 6;
        EITHER(flags[pair] = 1, STORE(&flags[pair], 1, memory_order_release));
    } else {
#ifdef RACY
        for (uint tries = 0; tries < ITERATIONS && !flags[pair]; tries++) {
        }
#else
        NAME(wait)(&flags[pair], 1, memory_order_acquire);
#endif
        y[i] = data[i];
    }
}

// The flag is an ordinary word.
kernel void NAME(plain_flag)(const global uint *x, global uint *y, global uint *flags) {
    if (get_local_id(0) == 0) {
        if (get_group_id(0) == 0)
            EITHER(flags[0] = 7, atomic_xchg(flags, 7));
        else
            y[get_group_id(0)] = EITHER(flags[0], atomic_or(flags, 0)) | 7;
    }
}

// The workgroup that is the last to count adds up the partial sums of all.
kernel void NAME(last_block)(const global uint *x, global uint *y, global uint *partial, global uint *count) {
    uint l = get_local_id(0), group = get_group_id(0), groups = get_num_groups(0), done = 0;
    partial[group * 64 + l] = x[get_global_id(0)] * 2;
    if (l == 0)
        done = ADD(count, 1, EITHER(memory_order_relaxed, memory_order_acq_rel));
    if (__builtin_amdgcn_readfirstlane(done) == groups - 1) {
        uint sum = 0;
        for (uint k = 0; k < groups; k++)
            sum += partial[k * 64 + l];
        y[l] = sum;
    }
}

// The last workgroup has a fence behind its count, but the others have none in front.
kernel void NAME(last_block_fence)(const global uint *x, global uint *y, global uint *partial, global uint *count) {
    uint l = get_local_id(0), group = get_group_id(0), groups = get_num_groups(0), done = 0;
    partial[group * 64 + l] = x[get_global_id(0)] ^ group;
    REPAIR(atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_release, memory_scope_device);)
    if (l == 0)
        done = atomic_inc(count);
    if (__builtin_amdgcn_readfirstlane(done) == groups - 1) {
        atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_acquire, memory_scope_device);
        uint sum = 0;
        for (uint k = 0; k < groups; k++)
            sum += partial[k * 64 + l];
        y[l] = sum;
    }
}

// Each workgroup adds its sum to the one before it, when that is there.
kernel void NAME(look_back)(const global uint *x, global uint *y, global uint *flags) {
    uint group = get_group_id(0), sum = x[group];
    if (get_local_id(0) == 0) {
        if (group > 0) {
            NAME(wait)(&flags[group - 1], 1, EITHER(memory_order_relaxed, memory_order_acquire));
            sum += y[group - 1];
        }
        y[group] = sum;
        STORE(&flags[group], 1, EITHER(memory_order_relaxed, memory_order_release));
    }
}

kernel void NAME(spin_lock)(const global uint *x, global uint *y, global uint *lock) {
    if (get_local_id(0) == 0) {
        uint open;
        do {
            open = 0;
        } while (!atomic_compare_exchange_strong_explicit(ATOMIC(lock), &open, 1,
                                                          EITHER(memory_order_relaxed, memory_order_acquire),
                                                          memory_order_relaxed, memory_scope_device));
        y[0] += x[get_group_id(0)];
        y[1] ^= x[get_group_id(0)];
        STORE(lock, 0, EITHER(memory_order_relaxed, memory_order_release));
    }
}

// Takes the lock in order of tickets.
kernel void NAME(ticket_lock)(const global uint *x, global uint *y, global uint *lock) {
    if (get_local_id(0) == 0) {
        uint ticket = atomic_inc(&lock[0]);
        NAME(wait)(&lock[1], ticket, EITHER(memory_order_relaxed, memory_order_acquire));
        y[0] += x[get_group_id(0)];
        STORE(&lock[1], ticket + 1, EITHER(memory_order_relaxed, memory_order_release));
    }
}

// A lock that is tested and set with plain accesses.
kernel void NAME(plain_lock)(const global uint *x, global uint *y, global uint *lock) {
    if (get_local_id(0) == 0) {
#ifdef RACY
        if (*lock == 0) {
            *lock = 1;
            y[0] += x[get_group_id(0)];
            *lock = 0;
        }
#else
        while (atomic_xchg(lock, 1)) {
        }
        atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_acquire, memory_scope_device);
        y[0] += x[get_group_id(0)];
        STORE(lock, 0, memory_order_release);
#endif
    }
}

// Workgroups push items; the last workgroup pops them all.
kernel void NAME(queue_push)(const global uint *x, global uint *y, global uint *items, global uint *queue) {
    uint group = get_group_id(0), last = get_num_groups(0) - 1;
    if (get_local_id(0) == 0) {
        if (group < last) {
            items[atomic_inc(&queue[0])] = x[group];
            ADD(&queue[1], 1, EITHER(memory_order_relaxed, memory_order_release));
        } else {
            NAME(wait)(&queue[1], last, memory_order_acquire);
            uint sum = 0;
            for (uint k = 0; k < last; k++)
                sum += items[k];
            y[0] = sum;
        }
    }
}

// Every workgroup waits for all, then reads what its neighbour has stored.
kernel void NAME(grid_barrier)(const global uint *x, global uint *y, global uint *cells, global uint *count) {
    uint i = get_global_id(0), n = get_global_size(0);
    cells[i] = x[i] * 5;
    if (get_local_id(0) == 0)
        ADD(count, 1, EITHER(memory_order_relaxed, memory_order_release));
    NAME(wait)(count, get_num_groups(0), EITHER(memory_order_relaxed, memory_order_acquire));
    y[i] = cells[(i + 64) % n];
}
