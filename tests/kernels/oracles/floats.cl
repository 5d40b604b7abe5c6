// Arithmetic of f32 and f64; the results are in the order of the table in
// tests/exec/oracles/floats.rs. Division and square root of f32 are the correctly rounded ones.
#include "oracle.h"

#define OUT(x) *out++ = BITS(x);
#define FLAG(x) *out++ = (x) ? 1 : 0;

#define BODY \
    T x = IN(a[i]), y = IN(b[i]), z = IN(c[i]); \
    int n = (int)(c[i] >> 32) >> 21; \
    OUT(x + y) OUT(x - y) OUT(x * y) OUT(x / y) OUT(1 / x) OUT(sqrt(x)) OUT(fma(x, y, z)) \
    OUT(fma(-x, y, z)) OUT(fma(x, fabs(y), -z)) OUT(fmod(x, y)) OUT(remainder(x, y)) \
    OUT(fmin(x, y)) OUT(fmax(x, y)) OUT(fmin(fmin(x, y), z)) OUT(fmax(fmax(x, y), z)) \
    OUT(floor(x)) OUT(ceil(x)) OUT(trunc(x)) OUT(rint(x)) OUT(round(x)) \
    OUT(fabs(x)) OUT(-x) OUT(copysign(x, y)) OUT(fdim(x, y)) OUT(nextafter(x, y)) \
    OUT(ldexp(x, n)) \
    { int e; OUT(frexp(x, &e)) *out++ = (uint)(isfinite(x) && x != 0 ? e : 0); } \
    { T whole; OUT(modf(x, &whole)) OUT(whole) } \
    FLAG(x == y) FLAG(x != y) FLAG(x < y) FLAG(x <= y) FLAG(x > y) FLAG(x >= y) \
    FLAG(!(x < y)) FLAG(!(x <= y)) FLAG(!(x > y)) FLAG(!(x >= y)) \
    FLAG(isordered(x, y)) FLAG(isunordered(x, y)) FLAG(islessgreater(x, y)) \
    FLAG(isnan(x)) FLAG(isinf(x)) FLAG(isfinite(x)) FLAG(isnormal(x)) FLAG(signbit(x)) \
    OUT(x < y ? -y : z) OUT(x * 2 + y * (T)0.5) OUT((x + y) * (x - z))

#define T float
#define IN f32_in
#define BITS f32_bits
kernel void f32(SLOTS) { BEGIN(51) BODY }
#undef T
#undef IN
#undef BITS

#define T double
#define IN f64_in
#define BITS f64_bits
kernel void f64(SLOTS) { BEGIN(51) BODY }
