// Indices that count down from a constant: compilers leave the negative part in a register and the constant in the
// instruction, so that only the sum of both is an offset.

#define KERNELS(T)                                                                             \
    kernel void below_private_##T(global T *out, global const T *in, global const uint *places) \
    {                                                                                          \
        T a[48];                                                                               \
        size_t at = get_global_id(0) * 48;                                                     \
        uint p = places[get_global_id(0)];                                                     \
        for (uint k = 0; k < 48; k++)                                                          \
            a[k] = in[at + k];                                                                 \
        a[17 - p] += (T)1;                                                                     \
        a[29 - p] = a[47 - p];                                                                 \
        for (uint k = 0; k < 48; k++)                                                          \
            out[at + k] = a[k];                                                                \
    }                                                                                          \
    kernel void below_local_##T(global T *out, global const T *in, global const uint *places)  \
    {                                                                                          \
        /* Work-item 63 has the first 24 elements. */                                          \
        local T a[24 * 64];                                                                    \
        size_t at = get_global_id(0) * 24, lid = get_local_id(0);                              \
        uint p = places[get_global_id(0)] + lid * 24;                                          \
        for (uint k = 0; k < 24; k++)                                                          \
            a[(63 - lid) * 24 + k] = in[at + k];                                               \
        barrier(CLK_LOCAL_MEM_FENCE);                                                          \
        a[63 * 24 + 17 - p] += (T)1;                                                           \
        a[63 * 24 + 20 - p] = a[63 * 24 + 23 - p];                                             \
        barrier(CLK_LOCAL_MEM_FENCE);                                                          \
        for (uint k = 0; k < 24; k++)                                                          \
            out[at + k] = a[(63 - lid) * 24 + k];                                              \
    }

KERNELS(uchar)
KERNELS(ushort)
KERNELS(uint)
KERNELS(ulong)
KERNELS(ulong2)
