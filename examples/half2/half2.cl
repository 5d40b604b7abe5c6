// Packed 16-bit arithmetic (VOP3P): half and short vectors. For gfx900 and newer.
#pragma OPENCL EXTENSION cl_khr_fp16 : enable

// A cubic by Horner's rule, four halves per work-item: packed fused multiply-adds.
kernel void half_cubic(global half4 *y, global const half4 *x, half c0, half c1, half c2, half c3,
                       uint n)
{
    size_t i = get_global_id(0);
    if (i >= n)
        return;
    half4 v = x[i];
    half4 r = fma((half4)c3, v, (half4)c2);
    r = fma(r, v, (half4)c1);
    y[i] = fma(r, v, (half4)c0);
}

// clamp(a * b - c, lo, hi) with the operands' halves crossed: products and sums rounded to half.
kernel void half_clamp(global half2 *out, global const half2 *a, global const half2 *b, half2 lo,
                       half2 hi, uint n)
{
    size_t i = get_global_id(0);
    if (i >= n)
        return;
    half2 v = a[i] * b[i].yx - a[i].yy;
    out[i] = fmin(fmax(v, lo), hi);
}

// Dot products of half rows with the vector w, summed in float: mixed-precision multiply-adds. A
// product of two halves is exact in float, so fused or not makes no difference.
kernel void half_dot(global float *out, global const half *rows, global const half *w, uint width,
                     uint n)
{
    size_t i = get_global_id(0);
    if (i >= n)
        return;
    float fused = 0.0f, separate = 0.0f;
    for (uint k = 0; k < width; k++) {
        fused = fma((float)rows[i * width + k], (float)w[k], fused);
        separate += (float)rows[i * width + k] * (float)w[width - 1 - k];
    }
    out[2 * i] = fused;
    out[2 * i + 1] = separate;
}

// Packed integers: wrapping multiply-add, shifts, signed and unsigned extremes.
kernel void short_mix(global short2 *out, global const short2 *a, global const short2 *b, uint n)
{
    size_t i = get_global_id(0);
    if (i >= n)
        return;
    short2 x = a[i], y = b[i];
    short2 r = x * y + (y << (short2)3);
    r = max(r, x >> (y & (short2)15)) - min(x.yx, y);
    ushort2 u = max(as_ushort2(r), as_ushort2(y)) >> (as_ushort2(x) & (ushort2)7);
    out[i] = as_short2(min(u, (ushort2)40000) + as_ushort2(r));
}
