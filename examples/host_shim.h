// The part of OpenCL C's library that the examples use, written with clang's builtins, so that the
// same .cl sources compile for the host (`-x cl` without clang's own OpenCL headers). What a
// work-item asks about itself and barriers are answered by host_run.c.
#include <opencl-c-base.h>
#pragma OPENCL EXTENSION cl_khr_fp16 : enable

#define SHIM static inline __attribute__((overloadable, always_inline))

size_t shim_global_id(uint d);
size_t shim_local_id(uint d);
size_t shim_group_id(uint d);
size_t shim_global_size(uint d);
size_t shim_local_size(uint d);
void shim_barrier(void);
#define get_global_id shim_global_id
#define get_local_id shim_local_id
#define get_group_id shim_group_id
#define get_global_size shim_global_size
#define get_local_size shim_local_size
#define barrier(flags) shim_barrier()

// Integers
SHIM uint rotate(uint x, uint n) { return x << (n & 31) | x >> (-n & 31); }
SHIM uint bitselect(uint a, uint b, uint c) { return (a & ~c) | (b & c); }
SHIM uint mul_hi(uint a, uint b) { return (uint)((ulong)a * b >> 32); }
#define min(a, b) __builtin_elementwise_min(a, b)
#define max(a, b) __builtin_elementwise_max(a, b)
#define clamp(x, lo, hi) __builtin_elementwise_min(__builtin_elementwise_max(x, lo), hi)

// Floats. On a half, multiply and add in double, which is exact but for the sum: rounding that to
// odd first makes the rounding to half the only one.
SHIM float fma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
SHIM double fma(double a, double b, double c) { return __builtin_fma(a, b, c); }
SHIM half fma(half a, half b, half c)
{
    double p = (double)a * (double)b, d = (double)c;
    double sum = p + d, back = sum - p;
    double lost = (p - (sum - back)) + (d - back);
    if (lost != 0.0 && !(as_ulong(sum) & 1))
        sum = as_double(as_ulong(sum) + ((lost > 0) == (sum > 0) ? 1 : -1));
    return (half)sum;
}
SHIM half4 fma(half4 a, half4 b, half4 c)
{
    return (half4)(fma(a.x, b.x, c.x), fma(a.y, b.y, c.y), fma(a.z, b.z, c.z), fma(a.w, b.w, c.w));
}
#define fmax(a, b) __builtin_elementwise_max(a, b)
#define fmin(a, b) __builtin_elementwise_min(a, b)
SHIM double sqrt(double x) { return __builtin_sqrt(x); }
SHIM float sqrt(float x) { return __builtin_sqrtf(x); }
SHIM float fabs(float x) { return __builtin_fabsf(x); }
// In double, and rounded: the error of the host's library plays no part
SHIM float sin(float x) { return (float)__builtin_sin((double)x); }
SHIM float cos(float x) { return (float)__builtin_cos((double)x); }
SHIM float exp(float x) { return (float)__builtin_exp((double)x); }
SHIM float log(float x) { return (float)__builtin_log((double)x); }
SHIM float pow(float x, float y) { return (float)__builtin_pow((double)x, (double)y); }
SHIM float sinpi(float x) { return (float)__builtin_sin(3.14159265358979323846 * (double)x); }
SHIM float cospi(float x) { return (float)__builtin_cos(3.14159265358979323846 * (double)x); }

// Conversions
#define convert_ushort4(v) __builtin_convertvector(v, ushort4)
#define convert_uint4(v) __builtin_convertvector(v, uint4)
#define convert_uchar4(v) __builtin_convertvector(v, uchar4)
#define convert_float4(v) __builtin_convertvector(v, float4)
SHIM uchar4 convert_uchar4_sat_rte(float4 v)
{
    v = __builtin_elementwise_min(__builtin_elementwise_max(v, (float4)0.0f), (float4)255.0f);
    return __builtin_convertvector(__builtin_elementwise_roundeven(v), uchar4);
}
SHIM void vstore4(uchar4 v, size_t i, global uchar *p)
{
    p[4 * i] = v.x; p[4 * i + 1] = v.y; p[4 * i + 2] = v.z; p[4 * i + 3] = v.w;
}

// Atomics, in any address space; work-items run one after the other
#define atomic_add(p, v) __atomic_fetch_add(p, v, __ATOMIC_RELAXED)
#define atom_add(p, v) __atomic_fetch_add(p, v, __ATOMIC_RELAXED)
#define atomic_inc(p) __atomic_fetch_add(p, 1, __ATOMIC_RELAXED)
#define atomic_min(p, v) __atomic_fetch_min(p, v, __ATOMIC_RELAXED)
#define atomic_max(p, v) __atomic_fetch_max(p, v, __ATOMIC_RELAXED)
#define atomic_and(p, v) __atomic_fetch_and(p, v, __ATOMIC_RELAXED)
#define atomic_or(p, v) __atomic_fetch_or(p, v, __ATOMIC_RELAXED)
#define atomic_xor(p, v) __atomic_fetch_xor(p, v, __ATOMIC_RELAXED)
SHIM uint atomic_cmpxchg(volatile global uint *p, uint old, uint new)
{
    uint seen = *p;
    if (seen == old)
        *p = new;
    return seen;
}
