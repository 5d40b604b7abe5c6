// f32 with denormals flushed, as compilers have it by default before gfx9. The multiply-adds may be
// contracted: what then comes is v_mad_f32 or v_mac_f32, which round twice.
#include "oracle.h"

#define OUT(x) *out++ = f32_bits(x);

kernel void flushed(SLOTS)
{
    BEGIN(11)
    float x = f32_in(a[i]), y = f32_in(b[i]), z = f32_in(c[i]);
    OUT(x + y) OUT(x - y) OUT(x * y)
    {
#pragma OPENCL FP_CONTRACT ON
        OUT(x * y + z) OUT(x * y - z) OUT(z - x * y) OUT(x * 3.25f + y) OUT(x * y + 1.75f)
    }
    OUT(x / y) OUT(sqrt(x))
    double wide = f64_in(a[i]) * f64_in(b[i]);
    *out++ = f64_bits(wide);
}

// Products of halves added to floats: v_mad_mix_f32 on gfx900, v_fma_mix_f32 on gfx906.
kernel void flushed_mix(SLOTS)
{
    BEGIN(4)
    half4 x = as_half4(a[i]), y = as_half4(b[i]);
    float z = f32_in(c[i]);
    {
#pragma OPENCL FP_CONTRACT ON
        OUT((float)x.s0 * (float)y.s0 + z) OUT((float)x.s1 * (float)y.s2 - z)
        OUT(fabs((float)x.s3) * (float)y.s1 + (float)x.s2)
        *out++ = f16_bits((half)((float)x.s1 * (float)y.s3 + (float)x.s0));
    }
}
