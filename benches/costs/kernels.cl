// What compilers and the device library make of one operation, as a loop of it. Kernels are named by the element
// type and the operation; `base_*` are the same loops without one.

#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#pragma OPENCL EXTENSION cl_khr_fp16 : enable

#define LOOP(name, T, seed, step)                           \
    kernel void name(global T *data, uint count)            \
    {                                                       \
        size_t id = get_global_id(0);                       \
        T y = data[id], x = (seed);                         \
        for (uint i = 0; i < count; i++)                    \
            x = (step);                                     \
        data[id] = x;                                       \
    }

LOOP(base_float, float, y, x + y)
LOOP(base_double, double, y, x + y)
LOOP(base_uint, uint, y, x + y)
LOOP(base_ulong, ulong, y, x + y)
LOOP(base_half, half, y, x + y)

LOOP(float_divide, float, y, x / y + y)
LOOP(float_sqrt, float, y, sqrt(x) + y)
LOOP(float_rsqrt, float, y, rsqrt(x) + y)
LOOP(float_exp, float, y, exp(-x) + y)
LOOP(float_log, float, y, log(x) + y)
LOOP(float_pow, float, y, pow(x, 0.3f) + y)
LOOP(float_sin, float, y, sin(x) + y)
LOOP(float_tan, float, y, tan(x) + y)
LOOP(float_atan2, float, y, atan2(x, y) + y)
LOOP(float_tanh, float, y, tanh(x) + y)
LOOP(float_erf, float, y, erf(x) + y)
LOOP(float_cbrt, float, y, cbrt(x) + y)
LOOP(float_fmod, float, y, fmod(x, 0.3f) + y)
LOOP(float_hypot, float, y, hypot(x, y) + y)

LOOP(double_divide, double, y, x / y + y)
LOOP(double_sqrt, double, y, sqrt(x) + y)
LOOP(double_rsqrt, double, y, rsqrt(x) + y)
LOOP(double_exp, double, y, exp(-x) + y)
LOOP(double_log, double, y, log(x) + y)
LOOP(double_pow, double, y, pow(x, 0.3) + y)
LOOP(double_sin, double, y, sin(x) + y)
LOOP(double_atan2, double, y, atan2(x, y) + y)
LOOP(double_tanh, double, y, tanh(x) + y)
LOOP(double_fmod, double, y, fmod(x, 0.3) + y)

LOOP(half_divide, half, y, x / y + y)
LOOP(half_sqrt, half, y, sqrt(x) + y)
LOOP(half_exp, half, y, exp(-x) + y)

LOOP(uint_divide, uint, ~y, (x / (y | 1)) ^ ~y)
LOOP(uint_modulo, uint, ~y, (x % (y | 1)) ^ ~y)
LOOP(ulong_divide, ulong, ~y, (x / (y | 1)) ^ ~y)
LOOP(ulong_modulo, ulong, ~y, (x % (y | 1)) ^ ~y)
LOOP(ulong_modulo_large, ulong, ~y, (x % (y | 1ul << 40)) ^ ~y)
LOOP(ulong_multiply, ulong, ~y, x * (y | 1))
