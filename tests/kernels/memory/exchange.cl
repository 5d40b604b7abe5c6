// The atomics that are no arithmetic: flags, exchanges, loads and stores of every type, weak compare and
// swap, fences; and the functions of OpenCL 1.x. In global memory and LDS, with orders and scopes named and
// not.
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable

// Locks made of flags; one lane of a wave takes them at a time.
kernel void flags(volatile global atomic_flag *flag, volatile global uint *data, global uint *out)
{
    local atomic_flag own;
    volatile local uint sum[1];
    uint lid = (uint)get_local_id(0);
    if (lid == 0) {
        atomic_flag_clear(&own);
        sum[0] = 0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint k = 0; k < 64; k++) {
        if ((lid & 63) == k) {
            while (atomic_flag_test_and_set_explicit(flag, memory_order_acquire,
                                                     memory_scope_device))
                ;
            data[0] += 1;
            data[1] = data[1] * 5 + 1;
            atomic_flag_clear_explicit(flag, memory_order_release, memory_scope_device);
            while (atomic_flag_test_and_set(&own))
                ;
            sum[0] = sum[0] + lid * lid + 1;
            atomic_flag_clear(&own);
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lid == 0)
        out[get_group_id(0)] = sum[0];
}

// Each work-item leaves its value and takes what it finds; `cells` has one for all, then one of each group.
#define EXCHANGE(T)                                                                            \
    kernel void exchange_##T(volatile global atomic_##T *cells, global T *olds,                \
                             global const T *values)                                           \
    {                                                                                          \
        local atomic_##T tile;                                                                 \
        size_t i = get_global_id(0), n = get_global_size(0);                                   \
        if (get_local_id(0) == 0)                                                              \
            atomic_init(&tile, atomic_load_explicit(&cells[1 + get_group_id(0)],               \
                                   memory_order_relaxed, memory_scope_work_item));             \
        barrier(CLK_LOCAL_MEM_FENCE);                                                          \
        olds[i] = atomic_exchange(&cells[0], values[i]);                                       \
        olds[i + n] = atomic_exchange_explicit(&tile, values[i], memory_order_acq_rel,         \
                                               memory_scope_work_group);                       \
        barrier(CLK_LOCAL_MEM_FENCE);                                                          \
        if (get_local_id(0) == 0)                                                              \
            atomic_store(&cells[1 + get_group_id(0)], atomic_load(&tile));                     \
    }

EXCHANGE(int)
EXCHANGE(uint)
EXCHANGE(long)
EXCHANGE(ulong)
EXCHANGE(float)
EXCHANGE(double)

// Every work-item applies the same function, by a compare and swap that may fail for no reason.
kernel void weak(volatile global atomic_int *small, volatile global atomic_ulong *big,
                 global uint *small_tiles, global ulong *big_tiles)
{
    local atomic_uint tile;
    local atomic_long wide;
    if (get_local_id(0) == 0) {
        atomic_init(&tile, 0u);
        atomic_init(&wide, 0l);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    int a = atomic_load(small);
    while (!atomic_compare_exchange_weak(small, &a, a * 7 + 3))
        ;
    ulong b = atomic_load_explicit(big, memory_order_relaxed, memory_scope_all_svm_devices);
    while (!atomic_compare_exchange_weak_explicit(big, &b, b * 5 + 1, memory_order_seq_cst,
               memory_order_relaxed, memory_scope_all_svm_devices))
        ;
    uint c = 0;
    while (!atomic_compare_exchange_weak_explicit(&tile, &c, c * 3 + 1, memory_order_acq_rel,
               memory_order_acquire, memory_scope_work_group))
        ;
    long d = 0;
    while (!atomic_compare_exchange_weak(&wide, &d, d * 9 + 5))
        ;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) == 0) {
        small_tiles[get_group_id(0)] = atomic_load(&tile);
        big_tiles[get_group_id(0)] = (ulong)atomic_load(&wide);
    }
}

// A value and a sign that it is there, by fences around relaxed accesses: groups hand it on.
kernel void fences(volatile global uint *values, volatile global atomic_uint *ready)
{
    size_t group = get_group_id(0);
    if (get_local_id(0) == 0) {
        uint value = 1;
        if (group > 0) {
            while (!atomic_load_explicit(&ready[group - 1], memory_order_relaxed,
                                         memory_scope_device))
                ;
            atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_acquire,
                                   memory_scope_device);
            value = values[group - 1] * 3 + (uint)group;
        }
        values[group] = value;
        atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_release, memory_scope_device);
        atomic_store_explicit(&ready[group], 1u, memory_order_relaxed, memory_scope_device);
    }
}

// The functions of OpenCL 1.x, whose results do not depend on the order here. Cells: add, sub, inc, dec,
// min, max, and, or, xor, exchange of one value, compare and exchange from 0.
#define OLD(SPACE, T, prefix)                                                                  \
    static void old_##SPACE##_##T(volatile SPACE T *cells, T a)                                \
    {                                                                                          \
        prefix##_add(&cells[0], a);                                                            \
        prefix##_sub(&cells[1], a);                                                            \
        prefix##_inc(&cells[2]);                                                               \
        prefix##_dec(&cells[3]);                                                               \
        prefix##_min(&cells[4], a);                                                            \
        prefix##_max(&cells[5], a);                                                            \
        prefix##_and(&cells[6], a);                                                            \
        prefix##_or(&cells[7], a);                                                             \
        prefix##_xor(&cells[8], a);                                                            \
        prefix##_xchg(&cells[9], (T)77);                                                       \
        prefix##_cmpxchg(&cells[10], (T)0, (T)55);                                             \
    }

#define OLDS(T, prefix)                                                                        \
    OLD(global, T, prefix)                                                                     \
    OLD(local, T, prefix)                                                                      \
    kernel void old_##T(volatile global T *cells, global T *tiles, global const T *a)          \
    {                                                                                          \
        volatile local T tile[11];                                                             \
        size_t i = get_global_id(0), lid = get_local_id(0), group = get_group_id(0);           \
        if (lid < 11)                                                                          \
            tile[lid] = tiles[group * 11 + lid];                                               \
        barrier(CLK_LOCAL_MEM_FENCE);                                                          \
        old_global_##T(cells, a[i]);                                                           \
        old_local_##T(tile, a[i]);                                                             \
        barrier(CLK_LOCAL_MEM_FENCE);                                                          \
        if (lid < 11)                                                                          \
            tiles[group * 11 + lid] = tile[lid];                                               \
    }

OLDS(int, atomic)
OLDS(uint, atomic)
OLDS(long, atom)
OLDS(ulong, atom)
