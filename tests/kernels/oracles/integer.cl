// Every integer operation of OpenCL on every width; the results are in the order of the table in
// tests/exec/oracles/integer.rs. Divisors that have no quotient are replaced by 1.
#include "oracle.h"

#define OUT(x) *out++ = (ulong)(U)(x);
#define FLAG(x) *out++ = (x) ? 1 : 0;

#define NO_QUOTIENT_u(x, y) ((y) == 0)
#define NO_QUOTIENT_s(x, y) ((y) == 0 || ((y) == -1 && (x) == (T)((U)1 << (BITS - 1))))

#define BODY(SIGN, UNSIGNED_T) \
    T x = (T)a[i], y = (T)b[i], z = (T)c[i]; \
    T d = NO_QUOTIENT_##SIGN(x, y) ? (T)1 : y; \
    U s = (U)y & (BITS - 1); \
    OUT(x + y) OUT(x - y) OUT(x * y) OUT(x / d) OUT(x % d) \
    OUT(mul_hi(x, y)) OUT(mad_hi(x, y, z)) OUT(mad_sat(x, y, z)) OUT((U)x * (U)y + (U)z) \
    OUT(add_sat(x, y)) OUT(sub_sat(x, y)) OUT(hadd(x, y)) OUT(rhadd(x, y)) \
    OUT(abs(x)) OUT(x > y ? (U)x - (U)y : (U)y - (U)x) OUT(min(x, y)) OUT(max(x, y)) \
    OUT(max(min(x, max(y, z)), min(y, z))) OUT(min(min(x, y), z)) OUT(max(max(x, y), z)) \
    OUT(x & y) OUT(x | y) OUT(x ^ y) OUT(~x) OUT(bitselect(x, y, z)) OUT((x & y) | (~x & z)) \
    OUT(~(x ^ y)) OUT((x | y) & ~z) OUT((x & y) | z) OUT((x | y) | z) OUT((U)x ^ (U)y ^ (U)z) \
    OUT((U)x << s) OUT(x >> s) OUT(rotate(x, y)) OUT((U)x + ((U)y << 3)) OUT(((U)x + y) << 5) \
    OUT((U)(x << 2) | (U)z) OUT((U)x >> 3 & 15) OUT((T)((U)x << (BITS - 5)) >> (BITS - 5)) \
    OUT((U)x + (U)y + (U)z) OUT(-x) OUT(x / 7) OUT((U)x % 10) OUT((U)x / 641) OUT(x * 100) \
    OUT(clz(x)) OUT(ctz(x)) OUT(popcount(x)) OUT(REVERSE(x)) OUT(SWAP(x)) \
    FLAG(x == y) FLAG(x != y) FLAG(x < y) FLAG(x <= y) FLAG(x > y) FLAG(x >= y) \
    OUT(x < y ? y : z)

#define KERNEL(NAME, SIGN) kernel void NAME(SLOTS) { BEGIN(57) BODY(SIGN, ) }

#define T uchar
#define U uchar
#define BITS 8
#define REVERSE(x) __builtin_bitreverse8(x)
#define SWAP(x) (x)
KERNEL(int_u8, u)
#undef T
#define T char
KERNEL(int_s8, s)
#undef T
#undef U
#undef BITS
#undef REVERSE
#undef SWAP

#define T ushort
#define U ushort
#define BITS 16
#define REVERSE(x) __builtin_bitreverse16(x)
#define SWAP(x) __builtin_bswap16(x)
KERNEL(int_u16, u)
#undef T
#define T short
KERNEL(int_s16, s)
#undef T
#undef U
#undef BITS
#undef REVERSE
#undef SWAP

#define T uint
#define U uint
#define BITS 32
#define REVERSE(x) __builtin_bitreverse32(x)
#define SWAP(x) __builtin_bswap32(x)
KERNEL(int_u32, u)
#undef T
#define T int
KERNEL(int_s32, s)
#undef T
#undef U
#undef BITS
#undef REVERSE
#undef SWAP

#define T ulong
#define U ulong
#define BITS 64
#define REVERSE(x) __builtin_bitreverse64(x)
#define SWAP(x) __builtin_bswap64(x)
KERNEL(int_u64, u)
#undef T
#define T long
KERNEL(int_s64, s)
#undef T
#undef U

// 24-bit factors, and products that are wider than what goes in.
kernel void mul24s(SLOTS)
{
    BEGIN(8)
    uint ux = (uint)a[i] & 0xffffff, uy = (uint)b[i] & 0xffffff, uz = (uint)c[i];
    int sx = (int)((uint)a[i] << 8) >> 8, sy = (int)((uint)b[i] << 8) >> 8, sz = (int)uz;
    *out++ = mul24(ux, uy);
    *out++ = (uint)mul24(sx, sy);
    *out++ = mad24(ux, uy, uz);
    *out++ = (uint)mad24(sx, sy, sz);
    *out++ = (ulong)ux * uy;
    *out++ = (ulong)((long)sx * sy);
    *out++ = (ulong)(uint)a[i] * (uint)b[i] + c[i];
    *out++ = (ulong)((long)(int)a[i] * (int)b[i] + (long)c[i]);
}

// Carry chains: the product of two 128-bit numbers and the difference of two 192-bit ones.
kernel void wide(SLOTS)
{
    BEGIN(7)
    ulong x[2] = { a[i], b[i] }, y[2] = { c[i], a[i] ^ rotate(c[i], 17UL) };
    ulong product[4] = { 0, 0, 0, 0 };
#pragma unroll
    for (uint j = 0; j < 2; j++) {
        ulong carry = 0;
#pragma unroll
        for (uint k = 0; k < 2; k++) {
            ulong low = x[j] * y[k], high = mul_hi(x[j], y[k]);
            low += carry;
            high += low < carry;
            product[j + k] += low;
            carry = high + (product[j + k] < low);
        }
        product[j + 2] = carry;
    }
    for (uint k = 0; k < 4; k++)
        *out++ = product[k];
    ulong d0 = a[i] - b[i];
    ulong borrow = a[i] < b[i];
    ulong d1 = b[i] - c[i];
    ulong d1b = d1 - borrow;
    borrow = (b[i] < c[i]) | (d1 < borrow);
    *out++ = d0;
    *out++ = d1b;
    *out++ = c[i] - a[i] - borrow;
}
