// One kernel for each shape of matrix instruction: a loop of independent ones, whose sums stay in registers. They are
// for measurements; d gets the sum of all of them, each of whose elements is the same.

#include "types.h"

// `count` sums of `sums` elements in a lane. All elements of A are 1 and those of B 1 to 4; `one` is 1 as bits.
#define LOOP(type, element, factor, sum, vector, sums, count, one)                                                            \
    LOOP_OF(type, DENSE(type), factor, factor, sum, vector, sums, count, one, one)
#define DENSE(type) __builtin_amdgcn_mfma_##type(x, y[i % 4], z[i], 0, 0, 0)

// The same of a sparse A, which has the first two of each four values, and a B whose lanes have `factors`.
#define SPARSE(type, factor, factors, sum, vector, sums, count, one, ones)                                                    \
    LOOP_OF(sparse_##type, PLACED(type), factor, factors, sum, vector, sums, count, one, ones)
#define PLACED(type) __builtin_amdgcn_smfmac_##type(x, y[i % 4], z[i], 0x44444444, 0, 0)

#define LOOP_OF(name, product, factor, factors, sum, vector, sums, count, one, ones)                                          \
    kernel __attribute__((reqd_work_group_size(64, 1, 1))) void name(global sum *d, int n)                                    \
    {                                                                                                                         \
        factor x = one(1);                                                                                                    \
        factors y[4] = {ones(1), ones(2), ones(3), ones(4)};                                                                  \
        /* Values that the compiler does not know. */                                                                         \
        __asm__ volatile("" : "+v"(x), "+v"(y[0]), "+v"(y[1]), "+v"(y[2]), "+v"(y[3]));                                       \
        vector z[count];                                                                                                      \
        _Pragma("unroll") for (int i = 0; i < count; i++) z[i] = 0;                                                           \
        _Pragma("nounroll") for (int k = 0; k < n; k++)                                                                       \
            _Pragma("unroll") for (int i = 0; i < count; i++)                                                                 \
                z[i] = product;                                                                                               \
        union { vector all; sum one[sums]; } of;                                                                              \
        of.all = z[0];                                                                                                        \
        _Pragma("unroll") for (int i = 1; i < count; i++) of.all += z[i];                                                     \
        for (int i = 0; i < sums; i++) d[get_group_id(0) * 64 * sums + i * 64 + get_local_id(0)] = of.one[i];                 \
    }

#define PLAIN(n) n
#define HALVES(n) ((half4_t)(n))
#define BFLOAT(n) ((short)(as_uint((float)(n)) >> 16))
#define TWO(n) ((short2_t)(BFLOAT(n)))
#define FOUR(n) ((short4_t)(BFLOAT(n)))
#define BYTES(n) ((n) * 0x01010101)
#define EIGHT(byte) ((byte) * 0x0101010101010101L)
#define EIGHT_BYTES(n) EIGHT(n)
#define TWO_FLOATS(n) ((float2_t)(n))
// As the byte of an A, 1 is the same in both types.
#define FP8(n) EIGHT((n) == 1 ? 0x40L : (n) == 2 ? 0x48L : (n) == 3 ? 0x4cL : 0x50L)
#define BF8(n) EIGHT((n) == 1 ? 0x40L : (n) == 2 ? 0x44L : (n) == 3 ? 0x46L : 0x48L)

LOOP(f32_32x32x1f32, float, float, float, float32_t, 32, 4, PLAIN)
LOOP(f32_16x16x1f32, float, float, float, float16_t, 16, 8, PLAIN)
LOOP(f32_4x4x1f32, float, float, float, float4_t, 4, 8, PLAIN)
LOOP(f32_32x32x2f32, float, float, float, float16_t, 16, 8, PLAIN)
LOOP(f32_16x16x4f32, float, float, float, float4_t, 4, 8, PLAIN)
LOOP(f32_32x32x8f16, half, half4_t, float, float16_t, 16, 8, HALVES)
LOOP(f32_16x16x16f16, half, half4_t, float, float4_t, 4, 8, HALVES)
LOOP(f32_4x4x4f16, half, half4_t, float, float4_t, 4, 8, HALVES)
#ifndef __gfx942__
LOOP(f32_32x32x4bf16, short, short2_t, float, float16_t, 16, 8, TWO)
LOOP(f32_16x16x8bf16, short, short2_t, float, float4_t, 4, 8, TWO)
#endif
#ifndef __gfx942__
LOOP(i32_32x32x8i8, char, int, int, int16_t, 16, 8, BYTES)
LOOP(i32_16x16x16i8, char, int, int, int4_t, 4, 8, BYTES)
#endif
LOOP(i32_4x4x4i8, char, int, int, int4_t, 4, 8, BYTES)

#ifndef __gfx908__
LOOP(f32_32x32x8bf16_1k, short, short4_t, float, float16_t, 16, 8, FOUR)
LOOP(f32_16x16x16bf16_1k, short, short4_t, float, float4_t, 4, 8, FOUR)
LOOP(f64_16x16x4f64, double, double, double, double4_t, 4, 8, PLAIN)
#endif

#ifdef __gfx942__
LOOP(i32_32x32x16_i8, char, long, int, int16_t, 16, 8, EIGHT_BYTES)
LOOP(i32_16x16x32_i8, char, long, int, int4_t, 4, 8, EIGHT_BYTES)
LOOP(f32_32x32x4_xf32, float, float2_t, float, float16_t, 16, 8, TWO_FLOATS)
LOOP(f32_16x16x8_xf32, float, float2_t, float, float4_t, 4, 8, TWO_FLOATS)
LOOP(f32_32x32x16_bf8_bf8, char, long, float, float16_t, 16, 8, BF8)
LOOP(f32_32x32x16_bf8_fp8, char, long, float, float16_t, 16, 8, FP8)
LOOP(f32_32x32x16_fp8_bf8, char, long, float, float16_t, 16, 8, BF8)
LOOP(f32_32x32x16_fp8_fp8, char, long, float, float16_t, 16, 8, FP8)
LOOP(f32_16x16x32_bf8_bf8, char, long, float, float4_t, 4, 8, BF8)
LOOP(f32_16x16x32_bf8_fp8, char, long, float, float4_t, 4, 8, FP8)
LOOP(f32_16x16x32_fp8_bf8, char, long, float, float4_t, 4, 8, BF8)
LOOP(f32_16x16x32_fp8_fp8, char, long, float, float4_t, 4, 8, FP8)

#define EIGHT_HALVES(n) ((half8_t)(n))
#define EIGHT_SHORTS(n) ((short8_t)(BFLOAT(n)))
#define TWO_WORDS(n) ((int2_t)(BYTES(n)))
#define FOUR_WORDS(n) ((int4_t)(BYTES(n)))
#define FP8_ONES(n) ((int2_t)(0x40404040))
#define FP8_WORDS(n) ((int4_t)((int)FP8(n)))
SPARSE(f32_16x16x32_f16, half4_t, half8_t, float, float4_t, 4, 8, HALVES, EIGHT_HALVES)
SPARSE(f32_32x32x16_f16, half4_t, half8_t, float, float16_t, 16, 8, HALVES, EIGHT_HALVES)
SPARSE(f32_16x16x32_bf16, short4_t, short8_t, float, float4_t, 4, 8, FOUR, EIGHT_SHORTS)
SPARSE(f32_32x32x16_bf16, short4_t, short8_t, float, float16_t, 16, 8, FOUR, EIGHT_SHORTS)
SPARSE(i32_16x16x64_i8, int2_t, int4_t, int, int4_t, 4, 8, TWO_WORDS, FOUR_WORDS)
SPARSE(i32_32x32x32_i8, int2_t, int4_t, int, int16_t, 16, 8, TWO_WORDS, FOUR_WORDS)
SPARSE(f32_16x16x64_fp8_fp8, int2_t, int4_t, float, float4_t, 4, 8, FP8_ONES, FP8_WORDS)
SPARSE(f32_32x32x32_fp8_fp8, int2_t, int4_t, float, float16_t, 16, 8, FP8_ONES, FP8_WORDS)
#endif
