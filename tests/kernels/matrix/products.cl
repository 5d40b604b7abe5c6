// One kernel for each shape of matrix instruction: D = A B + C by one wave, all matrices row by row, block after block.
// Which element is in which item of which lane is what AMD's matrix instruction calculator prints.

#include "types.h"

// `factors` elements of A and of B are in a lane, `sums` of C and D. `rows` rows of D are in consecutive items.
#define KERNEL(name, builtin, element, factor, factors, sum, vector, sums, size, k, blocks, rows, cbsz, abid, blgp)           \
    kernel __attribute__((reqd_work_group_size(64, 1, 1))) void name(                                                         \
        global sum *d, global const element *a, global const element *b, global const sum *c)                                 \
    {                                                                                                                         \
        int lane = get_local_id(0);                                                                                           \
        int outer = lane % size, of = lane / size % blocks, first = lane / size / blocks * factors;                           \
        union { factor all; element one[factors]; } x, y;                                                                     \
        for (int n = 0; n < factors; n++) {                                                                                   \
            x.one[n] = a[(of * size + outer) * k + first + n];                                                                \
            y.one[n] = b[(of * k + first + n) * size + outer];                                                                \
        }                                                                                                                     \
        int beside = 64 * rows / (size * size) > 1 ? 64 * rows / (size * size) : 1;                                           \
        int groups = 64 / (size * beside), behind = size / (rows * groups);                                                   \
        union { vector all; sum one[sums]; } z;                                                                               \
        for (int n = 0; n < sums; n++) {                                                                                      \
            int block = n / rows / behind * beside + lane / size % beside;                                                    \
            int i = n % rows + rows * (lane / size / beside + groups * (n / rows % behind));                                  \
            z.one[n] = c[(block * size + i) * size + lane % size];                                                            \
        }                                                                                                                     \
        z.all = builtin(x.all, y.all, z.all, cbsz, abid, blgp);                                                               \
        for (int n = 0; n < sums; n++) {                                                                                      \
            int block = n / rows / behind * beside + lane / size % beside;                                                    \
            int i = n % rows + rows * (lane / size / beside + groups * (n / rows % behind));                                  \
            d[(block * size + i) * size + lane % size] = z.one[n];                                                            \
        }                                                                                                                     \
    }

// A sparse product: A has `stored` elements in a lane, of which `places` says for which of four values of K each pair of
// them is; B has `factors`. Where the sets of places in the register are not the one that ABID chooses, they are others.
#define SPARSE(name, builtin, element, less, stored, factor, factors, sum, vector, sums, size, k, abid)                       \
    kernel __attribute__((reqd_work_group_size(64, 1, 1))) void name(                                                         \
        global sum *d, global const element *a, global const element *b, global const sum *c, global const uchar *places)     \
    {                                                                                                                         \
        int lane = get_local_id(0), outer = lane % size, group = lane / size;                                                 \
        union { less all; element one[stored]; } x;                                                                           \
        union { factor all; element one[factors]; } y;                                                                        \
        uint set = 0;                                                                                                         \
        for (int n = 0; n < stored; n++) {                                                                                    \
            int at = outer * (k / 2) + group * stored + n;                                                                    \
            x.one[n] = a[at];                                                                                                 \
            set |= (uint)places[at] << 2 * n;                                                                                 \
        }                                                                                                                     \
        for (int n = 0; n < factors; n++) y.one[n] = b[(group * factors + n) * size + outer];                                 \
        uint index = 0;                                                                                                       \
        for (int n = 0; n < 16 / stored; n++)                                                                                 \
            index |= (n == abid ? set : set ^ (1u << 2 * stored) - 1) << 2 * stored * n;                                      \
        union { vector all; sum one[sums]; } z;                                                                               \
        for (int n = 0; n < sums; n++) z.one[n] = c[(n % 4 + 4 * (group + 64 / size * (n / 4))) * size + outer];              \
        z.all = builtin(x.all, y.all, z.all, index, 0, abid);                                                                 \
        for (int n = 0; n < sums; n++) d[(n % 4 + 4 * (group + 64 / size * (n / 4))) * size + outer] = z.one[n];              \
    }

// Without optimization, code is large: only the fields that have no effect.
#ifdef __OPTIMIZE__
#define IF_OPTIMIZED(x) x
#else
#define IF_OPTIMIZED(x)
#endif

// With the fields of no effect, and, where there are several blocks, with the last block's A for all of them.
#define ONE(type, element, factor, factors, sum, vector, sums, size, k)                                                       \
    KERNEL(type, __builtin_amdgcn_mfma_##type, element, factor, factors, sum, vector, sums, size, k, 1, 4, 0, 0, 0)
#define MANY(type, element, factor, factors, sum, vector, sums, size, k, blocks, log)                                         \
    KERNEL(type, __builtin_amdgcn_mfma_##type, element, factor, factors, sum, vector, sums, size, k, blocks, 4, 0, 0, 0)      \
    IF_OPTIMIZED(KERNEL(type##_broadcast, __builtin_amdgcn_mfma_##type, element, factor, factors, sum, vector, sums, size, k, blocks, 4, log, blocks - 1, 0))

// With the first set of places, and with the last one.
#define PLACED(type, element, less, stored, factor, factors, sum, vector, sums, size, k)                                      \
    SPARSE(sparse_##type, __builtin_amdgcn_smfmac_##type, element, less, stored, factor, factors, sum, vector, sums, size, k, 0) \
    IF_OPTIMIZED(SPARSE(sparse_##type##_last, __builtin_amdgcn_smfmac_##type, element, less, stored, factor, factors, sum, vector, sums, size, k, 16 / stored - 1))

MANY(f32_32x32x1f32, float, float, 1, float, float32_t, 32, 32, 1, 2, 1)
MANY(f32_16x16x1f32, float, float, 1, float, float16_t, 16, 16, 1, 4, 2)
MANY(f32_4x4x1f32, float, float, 1, float, float4_t, 4, 4, 1, 16, 4)
ONE(f32_32x32x2f32, float, float, 1, float, float16_t, 16, 32, 2)
ONE(f32_16x16x4f32, float, float, 1, float, float4_t, 4, 16, 4)

MANY(f32_32x32x4f16, half, half4_t, 4, float, float32_t, 32, 32, 4, 2, 1)
MANY(f32_16x16x4f16, half, half4_t, 4, float, float16_t, 16, 16, 4, 4, 2)
MANY(f32_4x4x4f16, half, half4_t, 4, float, float4_t, 4, 4, 4, 16, 4)
ONE(f32_32x32x8f16, half, half4_t, 4, float, float16_t, 16, 32, 8)
ONE(f32_16x16x16f16, half, half4_t, 4, float, float4_t, 4, 16, 16)

#ifndef __gfx942__
MANY(f32_32x32x2bf16, short, short2_t, 2, float, float32_t, 32, 32, 2, 2, 1)
MANY(f32_16x16x2bf16, short, short2_t, 2, float, float16_t, 16, 16, 2, 4, 2)
MANY(f32_4x4x2bf16, short, short2_t, 2, float, float4_t, 4, 4, 2, 16, 4)
ONE(f32_32x32x4bf16, short, short2_t, 2, float, float16_t, 16, 32, 4)
ONE(f32_16x16x8bf16, short, short2_t, 2, float, float4_t, 4, 16, 8)
#endif

MANY(i32_32x32x4i8, char, int, 4, int, int32_t, 32, 32, 4, 2, 1)
MANY(i32_16x16x4i8, char, int, 4, int, int16_t, 16, 16, 4, 4, 2)
MANY(i32_4x4x4i8, char, int, 4, int, int4_t, 4, 4, 4, 16, 4)
#ifndef __gfx942__
ONE(i32_32x32x8i8, char, int, 4, int, int16_t, 16, 32, 8)
ONE(i32_16x16x16i8, char, int, 4, int, int4_t, 4, 16, 16)
#endif

#ifndef __gfx908__
MANY(f32_32x32x4bf16_1k, short, short4_t, 4, float, float32_t, 32, 32, 4, 2, 1)
MANY(f32_16x16x4bf16_1k, short, short4_t, 4, float, float16_t, 16, 16, 4, 4, 2)
MANY(f32_4x4x4bf16_1k, short, short4_t, 4, float, float4_t, 4, 4, 4, 16, 4)
ONE(f32_32x32x8bf16_1k, short, short4_t, 4, float, float16_t, 16, 32, 8)
ONE(f32_16x16x16bf16_1k, short, short4_t, 4, float, float4_t, 4, 16, 16)
KERNEL(f64_16x16x4f64, __builtin_amdgcn_mfma_f64_16x16x4f64, double, double, 1, double, double4_t, 4, 16, 4, 1, 1, 0, 0, 0)
KERNEL(f64_4x4x4f64, __builtin_amdgcn_mfma_f64_4x4x4f64, double, double, 1, double, double, 1, 4, 4, 4, 1, 0, 0, 0)
#endif

#ifdef __gfx942__
ONE(i32_32x32x16_i8, char, long, 8, int, int16_t, 16, 32, 16)
ONE(i32_16x16x32_i8, char, long, 8, int, int4_t, 4, 16, 32)
ONE(f32_32x32x4_xf32, float, float2_t, 2, float, float16_t, 16, 32, 4)
ONE(f32_16x16x8_xf32, float, float2_t, 2, float, float4_t, 4, 16, 8)
ONE(f32_32x32x16_bf8_bf8, char, long, 8, float, float16_t, 16, 32, 16)
ONE(f32_32x32x16_bf8_fp8, char, long, 8, float, float16_t, 16, 32, 16)
ONE(f32_32x32x16_fp8_bf8, char, long, 8, float, float16_t, 16, 32, 16)
ONE(f32_32x32x16_fp8_fp8, char, long, 8, float, float16_t, 16, 32, 16)
ONE(f32_16x16x32_bf8_bf8, char, long, 8, float, float4_t, 4, 16, 32)
ONE(f32_16x16x32_bf8_fp8, char, long, 8, float, float4_t, 4, 16, 32)
ONE(f32_16x16x32_fp8_bf8, char, long, 8, float, float4_t, 4, 16, 32)
ONE(f32_16x16x32_fp8_fp8, char, long, 8, float, float4_t, 4, 16, 32)

PLACED(f32_16x16x32_f16, half, half4_t, 4, half8_t, 8, float, float4_t, 4, 16, 32)
PLACED(f32_32x32x16_f16, half, half4_t, 4, half8_t, 8, float, float16_t, 16, 32, 16)
PLACED(f32_16x16x32_bf16, short, short4_t, 4, short8_t, 8, float, float4_t, 4, 16, 32)
PLACED(f32_32x32x16_bf16, short, short4_t, 4, short8_t, 8, float, float16_t, 16, 32, 16)
PLACED(i32_16x16x64_i8, char, int2_t, 8, int4_t, 16, int, int4_t, 4, 16, 64)
PLACED(i32_32x32x32_i8, char, int2_t, 8, int4_t, 16, int, int16_t, 16, 32, 32)
PLACED(f32_16x16x64_bf8_bf8, char, int2_t, 8, int4_t, 16, float, float4_t, 4, 16, 64)
PLACED(f32_16x16x64_bf8_fp8, char, int2_t, 8, int4_t, 16, float, float4_t, 4, 16, 64)
PLACED(f32_16x16x64_fp8_bf8, char, int2_t, 8, int4_t, 16, float, float4_t, 4, 16, 64)
PLACED(f32_16x16x64_fp8_fp8, char, int2_t, 8, int4_t, 16, float, float4_t, 4, 16, 64)
PLACED(f32_32x32x32_bf8_bf8, char, int2_t, 8, int4_t, 16, float, float16_t, 16, 32, 32)
PLACED(f32_32x32x32_bf8_fp8, char, int2_t, 8, int4_t, 16, float, float16_t, 16, 32, 32)
PLACED(f32_32x32x32_fp8_bf8, char, int2_t, 8, int4_t, 16, float, float16_t, 16, 32, 32)
PLACED(f32_32x32x32_fp8_fp8, char, int2_t, 8, int4_t, 16, float, float16_t, 16, 32, 32)
#endif

// The lanes of B as BLGP exchanges them.
#define PERMUTED(n) \
    IF_OPTIMIZED(KERNEL(permuted_##n, __builtin_amdgcn_mfma_f32_32x32x2f32, float, float, 1, float, float16_t, 16, 32, 2, 1, 4, 0, 0, n))
PERMUTED(1)
PERMUTED(2)
PERMUTED(3)
PERMUTED(4)
PERMUTED(5)
PERMUTED(6)
PERMUTED(7)
