// Kernels with accesses that a coarse detector takes for races and that are none.

// Lanes of one instruction store one value to one word.
kernel void same_value(const global uint *x, global uint *y) {
    y[get_group_id(0)] = x[get_group_id(0)] * 3;
}

// Every workgroup stores the same value.
kernel void same_flag(const global uint *x, global uint *y) {
    if (x[get_global_id(0)] % 2)
        y[0] = 1;
}

// Lanes of one wave load and store one word, one lane after another.
kernel void lane_turns(const global uint *x, global uint *y) {
    uint lane = get_local_id(0) % 64;
    volatile global uint *word = &y[get_global_id(0) / 64];
#pragma unroll 1
    for (uint k = 0; k < 4; k++) {
        if (lane / 16 == k)
            *word = *word * 3 + x[k];
    }
}

// Waves store to different bytes of the same words of LDS.
kernel void lds_bytes(const global uint *x, global uint *y) {
    local uchar bytes[256];
    uint l = get_local_id(0);
    bytes[l % 64 * 4 + l / 64] = x[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l < 64)
        y[get_group_id(0) * 64 + l] = ((local uint *)bytes)[l];
}

// Workgroups store to different bytes of the same words.
kernel void global_bytes(const global uint *x, global uchar *y) {
    y[get_local_id(0) * 4 + get_group_id(0)] = x[get_global_id(0)];
}

// Workgroups of odd number have the upper halves of words.
kernel void global_halves(const global uint *x, global ushort *y) {
    uint group = get_group_id(0);
    y[(group / 2 * 64 + get_local_id(0)) * 2 + group % 2] = x[get_global_id(0)] + group;
}

// A wave exchanges values in its own part of LDS.
kernel void wave_exchange(const global uint *x, global uint *y) {
    volatile local uint tile[128];
    uint l = get_local_id(0), i = get_global_id(0);
    tile[l] = x[i];
    y[i] = tile[l ^ 63];
}

// The last steps of a reduction are within wave 0.
kernel void wave_reduction(const global uint *x, global uint *y) {
    volatile local uint sums[128];
    uint l = get_local_id(0);
    sums[l] = x[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l < 64) {
        for (uint s = 64; s > 0; s /= 2)
            sums[l] += sums[l + s];
        if (l == 0)
            y[get_group_id(0)] = sums[0];
    }
}

// The compiler removes the barriers of workgroups that are one wave.
__attribute__((reqd_work_group_size(64, 1, 1)))
kernel void single_wave(const global uint *x, global uint *y) {
    local uint tile[64];
    uint l = get_local_id(0), i = get_global_id(0);
    tile[l] = x[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    uint other = tile[63 - l];
    barrier(CLK_LOCAL_MEM_FENCE);
    tile[l] = other + 1;
    barrier(CLK_LOCAL_MEM_FENCE);
    y[i] = tile[l ^ 1];
}

// All workgroups read the same words, also some that other lanes read as bytes.
kernel void shared_reads(const global uint *x, global uint *y) {
    uint i = get_global_id(0);
    y[i] = x[get_local_id(0)] + x[3] + ((const global uchar *)x)[i % 256];
}

// A table in constant memory, and scalar loads of an argument's memory.
constant uint primes[8] = {2, 3, 5, 7, 11, 13, 17, 19};
kernel void constants(const global uint *x, global uint *y, constant uint *table) {
    uint i = get_global_id(0);
    y[i] = x[i] * primes[i % 8] + table[get_group_id(0)];
}

// Workgroups and waves use every kind of atomic operation on the same words.
kernel void atomics(const global uint *x, global uint *y) {
    uint i = get_global_id(0), value = x[i];
    atomic_add(&y[0], value);
    atomic_sub(&y[1], value);
    atomic_min(&y[2], value);
    atomic_max(&y[3], value);
    atomic_or(&y[4], value);
    atomic_and(&y[5], ~value);
    atomic_xor(&y[6], value);
    atomic_inc(&y[7]);
    atomic_xchg(&y[8], 5);
    atomic_cmpxchg(&y[9], 0, 6);
}

// The same on words of LDS.
kernel void lds_atomics(const global uint *x, global uint *y) {
    local uint words[6];
    uint l = get_local_id(0), value = x[get_global_id(0)];
    if (l < 6)
        words[l] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_add(&words[0], value);
    atomic_max(&words[1], value);
    atomic_or(&words[2], value);
    atomic_xor(&words[3], value);
    atomic_xchg(&words[4], 7);
    atomic_cmpxchg(&words[5], 0, 8);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l < 6)
        y[get_group_id(0) * 6 + l] = words[l];
}

// LDS that serves two purposes, with a barrier between.
kernel void lds_reuse(const global uint *x, global uint *y) {
    local uint tile[128];
    uint l = get_local_id(0), i = get_global_id(0);
    tile[l] = x[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    uint value = tile[127 - l];
    barrier(CLK_LOCAL_MEM_FENCE);
    tile[l ^ 64] = value + 1;
    barrier(CLK_LOCAL_MEM_FENCE);
    y[i] = tile[l] + value;
}

// Two tiles with one barrier an iteration.
kernel void two_tiles(const global uint *x, global uint *y) {
    local uint tiles[2][128];
    uint l = get_local_id(0), i = get_global_id(0), value = x[i];
    for (uint k = 0; k < 8; k++) {
        tiles[k % 2][l] = value + k;
        barrier(CLK_LOCAL_MEM_FENCE);
        value = tiles[k % 2][l ^ 64];
    }
    y[i] = value;
}

// Different waves store to one word, with a barrier between.
kernel void wave_turns(const global uint *x, global uint *y) {
    local uint word;
    uint l = get_local_id(0), wave = l / 64;
    for (uint k = 0; k < 4; k++) {
        if (wave == k && l % 64 == 0)
            word = k == 0 ? x[get_group_id(0)] : word * 3 + k;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    y[get_global_id(0)] = word;
}

// More barriers than 16 bits count; the waves alternate in writing a word.
kernel void many_barriers(global uint *y) {
    local uint word;
    uint l = get_local_id(0);
    if (l == 0)
        word = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint k = 0; k < 66000; k++) {
        if (l == k % 2 * 64)
            word++;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (l == 0)
        y[get_group_id(0)] = word;
}

// The first of two dispatches; what it stores, other workgroups of the second load and overwrite.
kernel void first_pass(const global uint *x, global uint *y, global uint *scratch) {
    uint i = get_global_id(0);
    scratch[i] = x[i] + 1;
    y[i] = 0;
}

kernel void second_pass(const global uint *x, global uint *y, global uint *scratch) {
    uint i = get_global_id(0), other = get_global_size(0) - 1 - i;
    y[other] = scratch[other] * 2;
    scratch[other] = 0;
}

// Volatile words that each work-item has for itself.
kernel void volatile_words(const global uint *x, volatile global uint *y) {
    uint i = get_global_id(0);
    for (uint k = 0; k < 4; k++)
        y[i] += x[i] + k;
}

kernel void grid_stride(const global uint *x, global uint *y, uint n) {
    for (uint i = get_global_id(0); i < n; i += get_global_size(0))
        y[i] = x[i] * x[i] + 1;
}

// Counts in LDS, reads the counts behind a barrier, adds them up in global memory.
kernel void histogram(const global uint *x, global uint *y) {
    local uint bins[16];
    uint l = get_local_id(0);
    if (l < 16)
        bins[l] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_inc(&bins[x[get_global_id(0)] % 16]);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l < 16)
        atomic_add(&y[l], bins[l]);
}

#if !defined(__gfx600__) && !defined(__gfx700__) // They have no ds_bpermute_b32.
// Lanes exchange values in registers: DS instructions that access no LDS.
kernel void shuffles(const global uint *x, global uint *y) {
    uint i = get_global_id(0), l = get_local_id(0), value = x[i];
    for (uint s = 1; s < 64; s *= 2)
        value += __builtin_amdgcn_ds_bpermute(4 * (l ^ s), value);
    y[i] = value + __builtin_amdgcn_ds_swizzle(value, 0x041f);
}
#endif

// Work-items have arrays in scratch, at the same addresses.
kernel void scratch_arrays(const global uint *x, global uint *y) {
    uint i = get_global_id(0);
    volatile uint mine[16];
    for (uint k = 0; k < 16; k++)
        mine[k] = x[i] + k;
    y[i] = mine[x[i] % 16] + mine[5];
}

struct cell {
    uint mass, speed;
};

// Workgroups have different fields of the same structures.
kernel void fields(const global uint *x, global struct cell *y) {
    uint l = get_local_id(0);
    if (get_group_id(0) % 2)
        y[l].speed = x[l];
    else
        y[l].mass = x[l] + 1;
}

// Two arrays of LDS that are arguments: each wave has one.
kernel void local_arguments(const global uint *x, global uint *y, local uint *a, local uint *b) {
    uint l = get_local_id(0), k = l % 64, i = get_global_id(0);
    volatile local uint *mine = l < 64 ? a : b;
    mine[k] = x[i];
    y[i] = mine[63 - k] + 1;
}

// Lanes behind the end store nothing, although their addresses are others' words.
kernel void masked_tail(const global uint *x, global uint *y, uint n) {
    uint l = get_local_id(0), i = get_group_id(0) * n + l;
    if (l < n)
        y[i] = x[i] + 9;
}

// Wave 1 ends before the barrier, which then waits for wave 0 only.
kernel void early_end(const global uint *x, global uint *y) {
    local uint tile[128];
    uint l = get_local_id(0), first = get_group_id(0) * 64;
    if (l >= 64)
        return;
    tile[l] = x[first + l];
    barrier(CLK_LOCAL_MEM_FENCE);
    y[first + l] = tile[63 - l];
}

// LDS loads and stores that are atomic operations themselves.
kernel void atomic_words(const global uint *x, global uint *y) {
    local atomic_uint greatest;
    uint l = get_local_id(0), value = x[get_global_id(0)];
    if (l == 0)
        atomic_init(&greatest, 0);
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_fetch_max_explicit(&greatest, value, memory_order_relaxed, memory_scope_work_group);
    barrier(CLK_LOCAL_MEM_FENCE);
    y[get_global_id(0)] = atomic_load_explicit(&greatest, memory_order_relaxed, memory_scope_work_group);
}

__attribute__((noinline)) static void deposit(global uint *account, uint value) {
    atomic_add(account, value);
}

// A function that is called in every workgroup, with registers that it saves on the stack.
kernel void calls(const global uint *x, global uint *y) {
    uint i = get_global_id(0);
    deposit(&y[x[i] % 4], x[i]);
    deposit(&y[4], 1);
}
