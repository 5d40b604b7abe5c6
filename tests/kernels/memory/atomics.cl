// Every atomic of OpenCL 2.0, chosen by `op`: on global memory and LDS, 32 and 64 bits, with and
// without use of the result, many work-items on few cells. `a` is the operand and, of a compare and
// swap, the expected value is `a & 7` and the new one `a >> 3 & 7`.
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable

enum { ADD, SUB, UMIN, UMAX, SMIN, SMAX, AND, OR, XOR, XCHG, CMPXCHG, INC, DEC };

#define ORDER memory_order_relaxed, memory_scope_device

#define APPLY(SPACE, U, S, name)                                                               \
    static inline U name(volatile SPACE U *at, uint op, U a)                                   \
    {                                                                                          \
        volatile SPACE atomic_##U *u = (volatile SPACE atomic_##U *)at;                        \
        volatile SPACE atomic_##S *s = (volatile SPACE atomic_##S *)at;                        \
        switch (op) {                                                                          \
        case ADD: return __opencl_atomic_fetch_add(u, a, ORDER);                               \
        case SUB: return __opencl_atomic_fetch_sub(u, a, ORDER);                               \
        case UMIN: return __opencl_atomic_fetch_min(u, a, ORDER);                              \
        case UMAX: return __opencl_atomic_fetch_max(u, a, ORDER);                              \
        case SMIN: return (U)__opencl_atomic_fetch_min(s, (S)a, ORDER);                        \
        case SMAX: return (U)__opencl_atomic_fetch_max(s, (S)a, ORDER);                        \
        case AND: return __opencl_atomic_fetch_and(u, a, ORDER);                               \
        case OR: return __opencl_atomic_fetch_or(u, a, ORDER);                                 \
        case XOR: return __opencl_atomic_fetch_xor(u, a, ORDER);                               \
        case XCHG: return __opencl_atomic_exchange(u, a, ORDER);                               \
        case CMPXCHG: {                                                                        \
            U expected = a & 7;                                                                \
            __opencl_atomic_compare_exchange_strong(u, &expected, a >> 3 & 7,                  \
                memory_order_relaxed, memory_order_relaxed, memory_scope_device);              \
            return expected;                                                                   \
        }                                                                                      \
        case INC: return __builtin_amdgcn_atomic_inc##name(at, a);                             \
        default: return __builtin_amdgcn_atomic_dec##name(at, a);                              \
        }                                                                                      \
    }

#define __builtin_amdgcn_atomic_inc_global32(at, a) __builtin_amdgcn_atomic_inc32(at, a, __ATOMIC_RELAXED, "agent")
#define __builtin_amdgcn_atomic_dec_global32(at, a) __builtin_amdgcn_atomic_dec32(at, a, __ATOMIC_RELAXED, "agent")
#define __builtin_amdgcn_atomic_inc_local32(at, a) __builtin_amdgcn_atomic_inc32(at, a, __ATOMIC_RELAXED, "workgroup")
#define __builtin_amdgcn_atomic_dec_local32(at, a) __builtin_amdgcn_atomic_dec32(at, a, __ATOMIC_RELAXED, "workgroup")
#define __builtin_amdgcn_atomic_inc_global64(at, a) __builtin_amdgcn_atomic_inc64(at, a, __ATOMIC_RELAXED, "agent")
#define __builtin_amdgcn_atomic_dec_global64(at, a) __builtin_amdgcn_atomic_dec64(at, a, __ATOMIC_RELAXED, "agent")
#define __builtin_amdgcn_atomic_inc_local64(at, a) __builtin_amdgcn_atomic_inc64(at, a, __ATOMIC_RELAXED, "workgroup")
#define __builtin_amdgcn_atomic_dec_local64(at, a) __builtin_amdgcn_atomic_dec64(at, a, __ATOMIC_RELAXED, "workgroup")

APPLY(global, uint, int, _global32)
APPLY(global, ulong, long, _global64)
APPLY(local, uint, int, _local32)
APPLY(local, ulong, long, _local64)

#define GLOBAL_KERNELS(U, bits)                                                                \
    kernel void global##bits(volatile global U *cells, global U *olds, global const uint *at,  \
                             global const U *a, uint op)                                       \
    {                                                                                          \
        size_t i = get_global_id(0);                                                           \
        olds[i] = _global##bits(&cells[at[i]], op, a[i]);                                      \
    }                                                                                          \
    kernel void global##bits##_blind(volatile global U *cells, global const uint *at,          \
                                     global const U *a, uint op)                               \
    {                                                                                          \
        size_t i = get_global_id(0);                                                           \
        _global##bits(&cells[at[i]], op, a[i]);                                                \
    }

// Each group has 8 cells of its own.
#define LOCAL_KERNELS(U, bits)                                                                 \
    kernel void local##bits(global U *cells, global U *olds, global const uint *at,            \
                            global const U *a, uint op)                                        \
    {                                                                                          \
        local U tile[8];                                                                       \
        size_t i = get_global_id(0), lid = get_local_id(0);                                    \
        if (lid < 8)                                                                           \
            tile[lid] = cells[get_group_id(0) * 8 + lid];                                      \
        barrier(CLK_LOCAL_MEM_FENCE);                                                          \
        olds[i] = _local##bits(&tile[at[i]], op, a[i]);                                        \
        barrier(CLK_LOCAL_MEM_FENCE);                                                          \
        if (lid < 8)                                                                           \
            cells[get_group_id(0) * 8 + lid] = tile[lid];                                      \
    }                                                                                          \
    kernel void local##bits##_blind(global U *cells, global const uint *at,                    \
                                    global const U *a, uint op)                                \
    {                                                                                          \
        local U tile[8];                                                                       \
        size_t i = get_global_id(0), lid = get_local_id(0);                                    \
        if (lid < 8)                                                                           \
            tile[lid] = cells[get_group_id(0) * 8 + lid];                                      \
        barrier(CLK_LOCAL_MEM_FENCE);                                                          \
        _local##bits(&tile[at[i]], op, a[i]);                                                  \
        barrier(CLK_LOCAL_MEM_FENCE);                                                          \
        if (lid < 8)                                                                           \
            cells[get_group_id(0) * 8 + lid] = tile[lid];                                      \
    }

GLOBAL_KERNELS(uint, 32)
GLOBAL_KERNELS(ulong, 64)
LOCAL_KERNELS(uint, 32)
LOCAL_KERNELS(ulong, 64)

// All work-items on one cell, which compilers turn into one atomic of a wave and a scan of lanes.
kernel void one_cell(volatile global atomic_uint *cells, global uint *olds, global const uint *a)
{
    size_t i = get_global_id(0), n = get_global_size(0);
    olds[i] = __opencl_atomic_fetch_add(&cells[0], a[i], ORDER);
    olds[i + n] = __opencl_atomic_fetch_sub(&cells[1], 3u, ORDER);
    olds[i + 2 * n] = __opencl_atomic_fetch_max(&cells[2], a[i], ORDER);
    if (a[i] & 1)
        olds[i + 3 * n] = __opencl_atomic_fetch_xor(&cells[3], a[i], ORDER);
    __opencl_atomic_fetch_add(&cells[4], a[i] >> 4, ORDER);
}

kernel void one_cell_local(global uint *cells, global uint *olds, global const uint *a)
{
    local atomic_uint tile[2];
    size_t i = get_global_id(0), n = get_global_size(0);
    if (get_local_id(0) < 2)
        atomic_init(&tile[get_local_id(0)], cells[get_local_id(0)]);
    barrier(CLK_LOCAL_MEM_FENCE);
    olds[i] = __opencl_atomic_fetch_add(&tile[0], a[i], ORDER);
    olds[i + n] = __opencl_atomic_fetch_min(&tile[1], a[i], ORDER);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) < 2)
        cells[2 + get_group_id(0) * 2 + get_local_id(0)] = atomic_load(&tile[get_local_id(0)]);
}

// Sums of floats by compare and swap.
#define FLOAT_ADD(SPACE, F, U, bits)                                                           \
    static inline void add_##SPACE##bits(volatile SPACE U *at, F value)                        \
    {                                                                                          \
        volatile SPACE atomic_##U *cell = (volatile SPACE atomic_##U *)at;                     \
        U old = *at;                                                                           \
        while (!__opencl_atomic_compare_exchange_strong(cell, &old,                            \
                   as_##U(as_##F(old) + value), memory_order_relaxed, memory_order_relaxed,    \
                   memory_scope_device))                                                       \
            ;                                                                                  \
    }

FLOAT_ADD(global, float, uint, 32)
FLOAT_ADD(local, float, uint, 32)
FLOAT_ADD(global, double, ulong, 64)
FLOAT_ADD(local, double, ulong, 64)

#define FLOAT_SUM(F, U, bits)                                                                  \
    kernel void sum_##F(volatile global U *cells, global const uint *at, global const F *a)    \
    {                                                                                          \
        volatile local U tile[4];                                                              \
        size_t i = get_global_id(0), lid = get_local_id(0);                                    \
        if (lid < 4)                                                                           \
            tile[lid] = 0;                                                                     \
        barrier(CLK_LOCAL_MEM_FENCE);                                                          \
        add_local##bits(&tile[at[i] & 3], a[i]);                                               \
        barrier(CLK_LOCAL_MEM_FENCE);                                                          \
        if (lid < 4)                                                                           \
            add_global##bits(&cells[lid], as_##F(tile[lid]));                                  \
        add_global##bits(&cells[4 + at[i]], a[i]);                                             \
    }

FLOAT_SUM(float, uint, 32)
FLOAT_SUM(double, ulong, 64)
