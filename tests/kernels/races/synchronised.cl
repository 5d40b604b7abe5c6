// Workgroups, and waves of a workgroup, that order their accesses by atomic operations and fences.

#define ATOMIC(word) ((volatile global atomic_uint *)(word))
#define LOAD(word, order) atomic_load_explicit(ATOMIC(word), order, memory_scope_device)
#define STORE(word, value, order) atomic_store_explicit(ATOMIC(word), value, order, memory_scope_device)
#define ADD(word, value, order) atomic_fetch_add_explicit(ATOMIC(word), value, order, memory_scope_device)

// Workgroups poll a word that others store atomically, and read nothing else of theirs.
kernel void poll(const global uint *x, global uint *y, global uint *flags) {
    uint group = get_group_id(0), seen;
    if (get_local_id(0) == 0) {
        STORE(&flags[group], x[group] + 1, memory_order_relaxed);
        while ((seen = LOAD(&flags[(group + 1) % get_num_groups(0)], memory_order_relaxed)) == 0) {
        }
        y[group] = seen;
    }
}

// Workgroup 0 waits for a counter to which all others add.
kernel void poll_counter(const global uint *x, global uint *y, global uint *count) {
    if (get_local_id(0) == 0) {
        if (get_group_id(0) > 0)
            atomic_inc(count);
        else
            while (LOAD(count, memory_order_relaxed) != get_num_groups(0) - 1) {
            }
        y[get_group_id(0)] = x[get_group_id(0)];
    }
}

// A volatile flag that carries its own value.
kernel void volatile_poll(const global uint *x, global uint *y, volatile global uint *flags) {
    uint group = get_group_id(0), seen;
    if (get_local_id(0) == 0) {
        flags[group] = x[group] + 2;
        if (group > 0) {
            while ((seen = flags[group - 1]) == 0) {
            }
            y[group] = seen;
        }
    }
}

// Prefix sums over workgroups: a sum, a fence, a flag.
kernel void look_back(const global uint *x, global uint *y, global uint *sums, global uint *flags) {
    uint group = get_group_id(0), l = get_local_id(0), before = 0;
    if (group > 0) {
        while (LOAD(&flags[group - 1], memory_order_acquire) == 0) {
        }
        before = sums[(group - 1) * 64 + l];
    }
    uint sum = before + x[get_global_id(0)];
    sums[group * 64 + l] = sum;
    y[get_global_id(0)] = sum;
    atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_release, memory_scope_device);
    if (l == 0)
        STORE(&flags[group], 1, memory_order_relaxed);
}

// The sum and its flag are one word of 64 bits.
kernel void packed_flag(const global uint *x, global uint *y, global atomic_ulong *states) {
    uint group = get_group_id(0), sum = x[group];
    if (get_local_id(0) == 0) {
        if (group > 0) {
            ulong state;
            while ((state = atomic_load_explicit(&states[group - 1], memory_order_relaxed, memory_scope_device)) >> 32 == 0) {
            }
            sum += (uint)state;
        }
        atomic_store_explicit(&states[group], 1ul << 32 | sum, memory_order_relaxed, memory_scope_device);
        y[group] = sum;
    }
}

// The last of several workgroups of several waves adds up what all have stored.
kernel void last_block(const global uint *x, global uint *y, global uint *partial, global uint *count) {
    local uint last;
    uint l = get_local_id(0), groups = get_num_groups(0);
    partial[get_global_id(0)] = x[get_global_id(0)] + 1;
    atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_release, memory_scope_device);
    barrier(CLK_GLOBAL_MEM_FENCE | CLK_LOCAL_MEM_FENCE);
    if (l == 0)
        last = atomic_inc(count) == groups - 1;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (last) {
        atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_acquire, memory_scope_device);
        uint sum = 0;
        for (uint k = 0; k < groups; k++)
            sum += partial[k * 128 + l];
        y[l] = sum;
    }
}

// The first work-item synchronises for its workgroup, which has two waves.
kernel void grid_barrier(const global uint *x, global uint *y, global uint *cells, global uint *count) {
    uint i = get_global_id(0), n = get_global_size(0), groups = get_num_groups(0);
    cells[i] = x[i];
    for (uint round = 1; round <= 3; round++) {
        barrier(CLK_GLOBAL_MEM_FENCE);
        if (get_local_id(0) == 0) {
            ADD(count, 1, memory_order_acq_rel);
            while (LOAD(count, memory_order_acquire) < round * groups) {
            }
        }
        barrier(CLK_GLOBAL_MEM_FENCE);
        cells[round * n + i] = cells[(round - 1) * n + (i + 64) % n] + round;
    }
    y[i] = cells[3 * n + i];
}

kernel void spin_lock(const global uint *x, global uint *y, global uint *lock) {
    if (get_local_id(0) == 0) {
        while (atomic_xchg(lock, 1)) {
        }
        atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_acquire, memory_scope_device);
        y[0] += x[get_group_id(0)];
        y[1 + get_group_id(0)] = 1;
        atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_release, memory_scope_device);
        atomic_xchg(lock, 0);
    }
}

kernel void ticket_lock(const global uint *x, global uint *y, global uint *lock) {
    if (get_local_id(0) == 0) {
        uint ticket = atomic_inc(&lock[0]);
        while (LOAD(&lock[1], memory_order_acquire) != ticket) {
        }
        y[0] = y[0] + x[get_group_id(0)];
        STORE(&lock[1], ticket + 1, memory_order_release);
    }
}

// A chain of flags: the third workgroup reads what the first has stored, and knows of it by the second.
kernel void chain(const global uint *x, global uint *y, global uint *cells, global uint *flags) {
    uint group = get_group_id(0), l = get_local_id(0);
    if (group == 0)
        cells[l] = x[l] + 11;
    else
        while (LOAD(&flags[group - 1], memory_order_acquire) == 0) {
        }
    if (group == get_num_groups(0) - 1)
        y[l] = cells[l];
    STORE(&flags[group], 1, memory_order_release);
}

// Waves of a workgroup pass values in LDS behind a flag that is stored and polled atomically.
kernel void lds_release(const global uint *x, global uint *y) {
    local uint items[64];
    local atomic_uint ready;
    uint l = get_local_id(0), k = l % 64, first = get_group_id(0) * 64;
    if (l == 0)
        atomic_init(&ready, 0);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l < 64) {
        items[k] = x[first + k] + 7;
        atomic_store_explicit(&ready, 1, memory_order_release, memory_scope_work_group);
    } else {
        while (atomic_load_explicit(&ready, memory_order_acquire, memory_scope_work_group) == 0) {
        }
        y[first + k] = items[63 - k];
    }
}

// Reads a counter atomically while others still add to it.
kernel void atomic_read(const global uint *x, global uint *y) {
    if (get_local_id(0) == 0) {
        atomic_add(&y[0], x[get_group_id(0)]);
        atomic_max(&y[1], LOAD(&y[0], memory_order_relaxed));
    }
}

// A flag of a release sequence: the second workgroup adds to it, the third acquires it.
kernel void release_sequence(const global uint *x, global uint *y, global uint *cells, global uint *flag) {
    uint group = get_group_id(0), l = get_local_id(0);
    if (group == 0) {
        cells[l] = x[l] * 9;
        STORE(flag, 1, memory_order_release);
    } else if (group == 1) {
        while (LOAD(flag, memory_order_relaxed) != 1) {
        }
        if (l == 0)
            ADD(flag, 1, memory_order_relaxed);
    } else {
        while (LOAD(flag, memory_order_acquire) != 2) {
        }
        y[l] = cells[l];
    }
}
