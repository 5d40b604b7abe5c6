// Fourier transforms of floats and of integers.

static float2 times(float2 a, float2 b)
{
    return (float2)(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}

kernel void setup_roots(global float2 *roots, int n)
{
    int k = get_global_id(0);
    float angle = (float)k * (-2.0f / n);
    roots[k] = (float2)(cospi(angle), sinpi(angle));
}

// 32 points per work-item, in private memory, with loops.
kernel void fft_private(global float2 *data, global const float2 *roots)
{
    size_t base = get_global_id(0) * 32;
    float2 v[32];
    for (uint i = 0; i < 32; i++) {
        uint j = (i & 1) << 4 | (i & 2) << 2 | (i & 4) | (i & 8) >> 2 | (i & 16) >> 4;
        v[j] = data[base + i];
    }
    for (uint half_size = 1; half_size < 32; half_size *= 2) {
        for (uint start = 0; start < 32; start += 2 * half_size) {
            for (uint k = 0; k < half_size; k++) {
                float2 a = v[start + k], b = times(v[start + k + half_size], roots[k * (16 / half_size)]);
                v[start + k] = a + b;
                v[start + k + half_size] = a - b;
            }
        }
    }
    for (uint i = 0; i < 32; i++)
        data[base + i] = v[i];
}

// 256 points per workgroup of 128, in local memory.
kernel __attribute__((reqd_work_group_size(128, 1, 1)))
void fft_local(global float2 *data, global const float2 *roots)
{
    local float2 v[256];
    uint id = get_local_id(0);
    size_t base = get_group_id(0) * 256;
    for (uint i = id; i < 256; i += 128) {
        uint j = 0;
        for (uint bit = 0; bit < 8; bit++)
            j |= (i >> bit & 1) << (7 - bit);
        v[j] = data[base + i];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint half_size = 1; half_size < 256; half_size *= 2) {
        uint k = id % half_size, at = 2 * (id - k) + k;
        float2 a = v[at], b = times(v[at + half_size], roots[k * (128 / half_size)]);
        v[at] = a + b;
        v[at + half_size] = a - b;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    for (uint i = id; i < 256; i += 128)
        data[base + i] = v[i];
}

#define PRIME 998244353u

static uint multiply(uint a, uint b)
{
    return (uint)((ulong)a * b % PRIME);
}

static uint power(uint base, uint exponent)
{
    uint result = 1;
    for (; exponent; exponent >>= 1) {
        if (exponent & 1)
            result = multiply(result, base);
        base = multiply(base, base);
    }
    return result;
}

kernel void setup_residues(global uint *roots)
{
    uint id = (uint)get_global_id(0);
    roots[id] = power(power(3, (PRIME - 1) / 512), id);
}

// 512 numbers modulo a prime per workgroup of 256; the result is in bit-reversed order.
kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void residues(global uint *data, global const uint *roots)
{
    local uint v[512];
    uint id = get_local_id(0);
    size_t base = get_group_id(0) * 512;
    for (uint i = id; i < 512; i += 256)
        v[i] = data[base + i] % PRIME;
    for (uint half_size = 256; half_size > 0; half_size /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        uint k = id % half_size, at = 2 * (id - k) + k;
        uint a = v[at], b = v[at + half_size], sum = a + b;
        v[at] = sum >= PRIME ? sum - PRIME : sum;
        v[at + half_size] = multiply(a >= b ? a - b : a + PRIME - b, roots[k * (256 / half_size)]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = id; i < 512; i += 256)
        data[base + i] = v[i];
}
