// f16: one number at a time, then four in a slot. Results in the order of tests/exec/oracles/half.rs.
#include "oracle.h"

#define OUT(x) *out++ = f16_bits(x);
#define FLAG(x) *out++ = (x) ? 1 : 0;
#define OUT4(x) *out++ = as_ulong(x);

// isinf and isnormal of the library are for targets with f16 arithmetic only.
#define CLASS(x, mask) __builtin_isfpclass(x, mask)

kernel void f16(SLOTS)
{
    BEGIN(26)
    half x = f16_in(a[i]), y = f16_in(b[i]), z = f16_in(c[i]);
    OUT(x + y) OUT(x - y) OUT(x * y) OUT(x / y) OUT(sqrt(x)) OUT(fma(x, y, z)) OUT(fma(-x, y, z))
    OUT(fmin(x, y)) OUT(fmax(x, y)) OUT(floor(x)) OUT(ceil(x)) OUT(trunc(x)) OUT(rint(x))
    OUT(fabs(x)) OUT(-x) OUT(copysign(x, y)) OUT(ldexp(x, (int)(c[i] >> 32) >> 26))
    FLAG(x == y) FLAG(x != y) FLAG(x < y) FLAG(x <= y) FLAG(!(x > y)) FLAG(isunordered(x, y))
    FLAG(CLASS(x, 0x003)) FLAG(CLASS(x, 0x204)) FLAG(CLASS(x, 0x108))
}

kernel void f16x4(SLOTS)
{
    BEGIN(10)
    half4 x = as_half4(a[i]), y = as_half4(b[i]), z = as_half4(c[i]);
    OUT4(x + y) OUT4(x - y) OUT4(x * y) OUT4(fma(x, y, z)) OUT4(fma(x.s1032, -y, z))
    OUT4(fmin(x, y)) OUT4(fmax(x, y)) OUT4(-x + y.s3210) OUT4(fabs(x)) OUT4(x * y.s0000)
}

// Products of halves added to floats: v_mad_mix or v_fma_mix where there is such a thing.
kernel void mixed(SLOTS)
{
    BEGIN(4)
    half4 x = as_half4(a[i]), y = as_half4(b[i]);
    float z = f32_in(c[i]);
    *out++ = f32_bits(fma((float)x.s0, (float)y.s0, z));
    *out++ = f32_bits(fma((float)x.s1, (float)y.s2, -z));
    *out++ = f32_bits(fma(fabs((float)x.s3), (float)y.s1, (float)x.s2));
    *out++ = f16_bits((half)fma((float)x.s1, (float)y.s3, (float)x.s0));
}
