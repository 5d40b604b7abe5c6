/* Behind every program of own.py: the same names on the host as in OpenCL C for a GPU. */
#pragma once

#define INLINE static inline __attribute__((always_inline))
#define CALLED static __attribute__((noinline))
#define PHASE static inline __attribute__((always_inline)) void

#ifdef __AMDGCN__
#pragma OPENCL EXTENSION __cl_clang_bitfields : enable
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#define GLOBAL global
#define LOCAL local
#define BARRIER()                                          \
    do {                                                   \
        __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup"); \
        __builtin_amdgcn_s_barrier();                      \
        __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup"); \
    } while (0)
#else
#include <stdio.h>
#define GLOBAL
#define LOCAL
typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;
typedef _Float16 half;
#define VECTOR(type, count) typedef type type##count __attribute__((ext_vector_type(count)))
VECTOR(char, 4);
VECTOR(uchar, 4);
VECTOR(short, 2);
VECTOR(ushort, 2);
VECTOR(short, 4);
VECTOR(ushort, 4);
VECTOR(int, 4);
VECTOR(uint, 4);
VECTOR(int, 2);
VECTOR(uint, 2);
VECTOR(long, 2);
VECTOR(ulong, 2);

static void read_file(const char *name, void *to, size_t bytes)
{
    FILE *file = fopen(name, "rb");
    if (!file || fread(to, bytes, 1, file) != 1 || fclose(file))
        __builtin_trap();
}

static void write_file(const char *name, const void *from, size_t bytes)
{
    FILE *file = fopen(name, "wb");
    if (!file || fwrite(from, bytes, 1, file) != 1 || fclose(file))
        __builtin_trap();
}
#endif

/* A value of which the compiler knows nothing. clang-19 divides unsigned integers as if they were small where it knows that
   their upper bits are equal, which they are in negative numbers made unsigned, too; and it adds 24-bit products to 64-bit
   numbers by an instruction that multiplies 32 bits. */
INLINE uint opaque_uint(uint x)
{
#ifdef __AMDGCN__
    __asm__("" : "+v"(x));
#endif
    return x;
}
INLINE ulong opaque_ulong(ulong x)
{
#ifdef __AMDGCN__
    __asm__("" : "+v"(x));
#endif
    return x;
}

/* Integers of floats, whatever these are. */
INLINE int int_of_float(float x) { return x > -1.0e9f && x < 1.0e9f ? (int)x : 77; }
INLINE int int_of_double(double x) { return x > -1.0e9 && x < 1.0e9 ? (int)x : 78; }
INLINE long long_of_float(float x) { return x > -1.0e18f && x < 1.0e18f ? (long)x : 79; }
INLINE long long_of_double(double x) { return x > -1.0e18 && x < 1.0e18 ? (long)x : 80; }
INLINE ulong ulong_of_double(double x) { return x >= 0.0 && x < 1.0e19 ? (ulong)x : 81; }
INLINE uint uint_of_float(float x) { return x >= 0.0f && x < 4.0e9f ? (uint)x : 82; }
INLINE int int_of_half(half x) { return x > (half)-60000.0f && x < (half)60000.0f ? (int)x : 83; }

/* What a variable keeps: neither so large nor so small that an expression of a few operations has a denormal result, which
   targets before gfx900 flush. */
INLINE float kept_float(float x) { return (x > 1.0e-3f && x < 1.0e6f) || (x < -1.0e-3f && x > -1.0e6f) ? x : 1.5f; }
INLINE double kept_double(double x) { return (x > 1.0e-3 && x < 1.0e6) || (x < -1.0e-3 && x > -1.0e6) ? x : 2.5; }
INLINE half kept_half(half x)
{
    return (x > (half)0.125f && x < (half)128.0f) || (x < (half)-0.125f && x > (half)-128.0f) ? x : (half)0.75f;
}
