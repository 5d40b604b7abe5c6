// Arithmetic that compilers expand or take from a library: division, square roots, random numbers,
// elementary functions. Compiled for correctly rounded division and square root of floats.

// Quotients and remainders by variables: integers of 32 and 64 bits.
kernel void divisions(global uint4 *small, global ulong2 *large, global const uint2 *a,
                      global const ulong2 *b, uint n)
{
    size_t i = get_global_id(0);
    if (i >= n)
        return;
    uint p = a[i].x, q = a[i].y | 1;
    int s = (int)p, t = (int)q;
    small[i] = (uint4)(p / q, p % q, (uint)(s / t), (uint)(s % t));
    ulong u = b[i].x, v = b[i].y | 1;
    large[i] = (ulong2)(u / v, (ulong)((long)u % (long)v));
}

// Correctly rounded, so that results are exact.
kernel void quotients(global float2 *out, global const float2 *in, uint n)
{
    size_t i = get_global_id(0);
    if (i < n)
        out[i] = (float2)(in[i].x / in[i].y, sqrt(fabs(in[i].x)));
}

// Ten rounds of Philox 4x32: random bits from a counter and a key.
static uint4 philox(uint4 counter, uint2 key)
{
    for (int round = 0; round < 10; round++) {
        uint h0 = mul_hi(0xD2511F53u, counter.x), l0 = 0xD2511F53u * counter.x;
        uint h1 = mul_hi(0xCD9E8D57u, counter.z), l1 = 0xCD9E8D57u * counter.z;
        counter = (uint4)(h1 ^ counter.y ^ key.x, l1, h0 ^ counter.w ^ key.y, l0);
        key += (uint2)(0x9E3779B9u, 0xBB67AE85u);
    }
    return counter;
}

// Normally distributed numbers by Box and Muller.
kernel void gaussians(global uint4 *bits, global float2 *normals, uint2 seed, uint n)
{
    size_t i = get_global_id(0);
    if (i >= n)
        return;
    uint4 r = philox((uint4)((uint)i, 0, 0, 0), seed);
    bits[i] = r;
    float u = (float)((r.x >> 8) + 1) * 0x1p-25f;
    float angle = (float)(r.y >> 8) * 0x1p-23f;
    float radius = sqrt(-2.0f * log(u));
    normals[i] = (float2)(radius * cospi(angle), radius * sinpi(angle));
}

// sin and cos with the reduction of large arguments, exp, and pow.
kernel void functions(global float4 *out, global const float *angles, global const float *values,
                      uint n)
{
    size_t i = get_global_id(0);
    if (i >= n)
        return;
    float x = angles[i], y = values[i];
    out[i] = (float4)(sin(x), cos(x), exp(y - 2.0f), pow(y, 1.75f));
}
