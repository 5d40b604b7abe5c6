// Conversions between all types, with all roundings; results in the order of tests/exec/oracles/convert.rs.
#include "oracle.h"

#define INT(T, U) *out++ = (ulong)(U)convert_##T##_sat(x);
// A NaN gives 0: OpenCL says "should", the library has the least integer.
#define SAT(T, U, ROUND) *out++ = (ulong)(U)(x != x ? 0 : convert_##T##_sat_##ROUND(x));
#define INT4(T, U) SAT(T, U, rte) SAT(T, U, rtz) SAT(T, U, rtp) SAT(T, U, rtn)
#define FLOAT4(T, BITS) \
    *out++ = BITS(convert_##T##_rte(x)); *out++ = BITS(convert_##T##_rtz(x)); \
    *out++ = BITS(convert_##T##_rtp(x)); *out++ = BITS(convert_##T##_rtn(x));

#define INTS(M) M(uchar, uchar) M(char, uchar) M(ushort, ushort) M(short, ushort) \
    M(uint, uint) M(int, uint) M(ulong, ulong) M(long, ulong)
// The library converts halves of any size to 16 bits, which has no defined result; so saturation is
// written out, and what is left to the compiler is the conversion of what fits.
#define HALF(T, U, ROUNDED, LEAST, MOST) \
    { \
        half y = ROUNDED(x); \
        *out++ = (ulong)(U)(y != y ? 0 : (double)y >= (double)MOST ? MOST : (double)y <= (double)LEAST ? LEAST : (T)y); \
    }
#define HALF4(T, U, LEAST, MOST) \
    HALF(T, U, rint, LEAST, MOST) HALF(T, U, trunc, LEAST, MOST) HALF(T, U, ceil, LEAST, MOST) HALF(T, U, floor, LEAST, MOST)
#define HALF_INTS HALF4(uchar, uchar, 0, UCHAR_MAX) HALF4(char, uchar, CHAR_MIN, CHAR_MAX) \
    HALF4(ushort, ushort, 0, USHRT_MAX) HALF4(short, ushort, SHRT_MIN, SHRT_MAX) \
    HALF4(uint, uint, 0, UINT_MAX) HALF4(int, uint, INT_MIN, INT_MAX) \
    HALF4(ulong, ulong, 0, ULONG_MAX) HALF4(long, ulong, LONG_MIN, LONG_MAX)

#define WIDER FLOAT4(float, f32_bits) FLOAT4(double, f64_bits)
#define FLOATS FLOAT4(half, f16_bits) WIDER

// The library's conversions of integers to half other than to the nearest are wrong for shorts below
// zero and for large integers: these go through double.
#define INT_TO_HALF(N) { double x = N; FLOAT4(half, f16_bits) out[-4] = f16_bits((half)N); }
#define FROM_INT(NAME, T) kernel void NAME(SLOTS) { BEGIN(20) T x = (T)a[i]; INTS(INT) INT_TO_HALF((T)a[i]) WIDER }
#define FROM_FLOAT(NAME, T, IN) kernel void NAME(SLOTS) { BEGIN(44) T x = IN(a[i]); INTS(INT4) FLOATS }

FROM_INT(from_u8, uchar)
FROM_INT(from_s8, char)
FROM_INT(from_u16, ushort)
FROM_INT(from_s16, short)
FROM_INT(from_u32, uint)
FROM_INT(from_s32, int)
FROM_INT(from_u64, ulong)
FROM_INT(from_s64, long)
kernel void from_f16(SLOTS) { BEGIN(44) half x = f16_in(a[i]); HALF_INTS FLOATS }
FROM_FLOAT(from_f32, float, f32_in)
FROM_FLOAT(from_f64, double, f64_in)
