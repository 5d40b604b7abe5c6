// The types of factors and of sums in a lane.

#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#pragma OPENCL EXTENSION cl_khr_fp64 : enable

#define VECTOR(type, n) type __attribute__((ext_vector_type(n)))

typedef VECTOR(half, 4) half4_t;
typedef VECTOR(half, 8) half8_t;
typedef VECTOR(short, 2) short2_t;
typedef VECTOR(short, 4) short4_t;
typedef VECTOR(short, 8) short8_t;
typedef VECTOR(float, 2) float2_t;
typedef VECTOR(float, 4) float4_t;
typedef VECTOR(float, 16) float16_t;
typedef VECTOR(float, 32) float32_t;
typedef VECTOR(int, 2) int2_t;
typedef VECTOR(int, 4) int4_t;
typedef VECTOR(int, 16) int16_t;
typedef VECTOR(int, 32) int32_t;
typedef VECTOR(double, 4) double4_t;
