// Workgroups that count, accumulate and append in global memory.
#include "pair.h"

kernel void NAME(counter)(const global uint *x, global uint *y) {
    if (x[get_global_id(0)] % 2)
        EITHER(y[0]++, atomic_inc(y));
}

kernel void NAME(float_sum)(const global float *x, global float *y) {
    if (get_local_id(0) == 0) {
        float value = x[get_group_id(0)];
#ifdef RACY
        *y += value;
#else
        volatile global uint *word = (volatile global uint *)y;
        uint seen = atomic_or(word, 0), old;
        do {
            old = seen;
            seen = atomic_cmpxchg(word, old, as_uint(as_float(old) + value));
        } while (seen != old);
#endif
    }
}

// Decides by a plain load of a word to which others add.
kernel void NAME(read_counter)(const global uint *x, global uint *y) {
    if (get_local_id(0) == 0) {
        uint value = x[get_group_id(0)] + 1, sum = atomic_add(&y[0], value) + value;
        EITHER(sum = y[0], (void)0);
        if (sum == 36)
            y[1] = 1;
    }
}

kernel void NAME(maximum)(const global uint *x, global uint *y) {
    uint value = x[get_global_id(0)];
    EITHER(if (value > *y) *y = value, atomic_max(y, value));
}

// Stores to colliding places; the greatest is to win.
kernel void NAME(scatter)(const global uint *x, global uint *y) {
    uint i = get_global_id(0), place = x[i] % 16;
    EITHER(y[place] = i, atomic_max(&y[place], i));
}

// Appends to a list whose length is not counted by an atomic operation.
kernel void NAME(append)(const global uint *x, global uint *y, global uint *list) {
    uint i = get_global_id(0);
    if (x[i] % 4 == 0) {
        uint place = EITHER(y[0]++, atomic_inc(&y[0]));
        list[place] = i;
    }
}

// Workgroups take items from a queue, until it is empty.
kernel void NAME(take)(const global uint *x, global uint *y, global uint *next, uint n) {
    if (get_local_id(0) == 0) {
        for (uint tries = 0; tries < n; tries++) {
            uint item = EITHER((*next)++, atomic_inc(next));
            if (item >= n)
                break;
            y[item] = x[item] * 2;
        }
    }
}

// Sets bits of a mask, and clears others without an atomic operation.
kernel void NAME(global_mask)(const global uint *x, global uint *y) {
    uint group = get_group_id(0);
    if (get_local_id(0) == 0) {
        if (group % 2)
            atomic_or(y, 1u << group);
        else
            EITHER(*y &= ~(256u << group), atomic_and(y, ~(256u << group)));
    }
}
