// Private memory: arrays that stay in scratch (the pass that moves them into registers or LDS is off), at one index for
// all work-items and at others for each, of all widths; frames of functions; spilled registers.
#define NOINLINE __attribute__((noinline))

// One index for all work-items.
kernel void schedule(global uint *out, global const uint *in)
{
    uint w[64];
    size_t i = get_global_id(0);
#pragma unroll 1
    for (uint k = 0; k < 16; k++)
        w[k] = in[i] * (2 * k + 1) + k;
#pragma unroll 1
    for (uint k = 16; k < 64; k++) {
        uint a = w[k - 15], b = w[k - 2];
        uint s0 = rotate(a, 25u) ^ rotate(a, 14u) ^ a >> 3;
        uint s1 = rotate(b, 15u) ^ rotate(b, 13u) ^ b >> 10;
        w[k] = w[k - 16] + s0 + w[k - 7] + s1;
    }
    uint sum = 0;
#pragma unroll 1
    for (uint k = 0; k < 64; k++)
        sum = rotate(sum, 5u) + w[63 - k];
    out[i] = sum;
}

// Each work-item its own, and not all of them each time.
kernel void widths(global uint *out, global const uint *in)
{
    uchar b[64];
    short s[32];
    uint w[32];
    ulong q[16];
    uint4 v[8];
    size_t i = get_global_id(0);
    uint x = in[i], sum = 0;
#pragma unroll 1
    for (uint k = 0; k < 64; k++)
        b[k] = (uchar)(x * (k + 1) >> 8);
#pragma unroll 1
    for (uint k = 0; k < 32; k++) {
        s[k] = (short)(x * (k + 3) >> 4);
        w[k] = x ^ k * 0x9e3779b9u;
    }
#pragma unroll 1
    for (uint k = 0; k < 16; k++)
        q[k] = (ulong)x * (k * 77 + 1) << 7;
#pragma unroll 1
    for (uint k = 0; k < 8; k++)
        v[k] = (uint4)(x + k, x ^ k, x * k, k);
#pragma unroll 1
    for (uint k = 0; k < 40; k++) {
        x = x * 1664525 + 1013904223;
        if (x >> 20 & 1) {
            b[x >> 3 & 63] += (uchar)x;
            sum += (uint)(char)b[x >> 9 & 63];
        }
        if ((x >> 21 & 3) != 0) {
            s[x >> 4 & 31] -= s[x >> 12 & 31];
            sum = sum * 31 + (ushort)s[k & 31];
        }
        w[x >> 7 & 31] += sum;
        sum ^= w[x >> 27];
        if (x >> 23 & 1)
            q[x >> 5 & 15] += q[x >> 11 & 15] ^ sum;
        sum += (uint)(q[k & 15] >> 17);
        v[x >> 13 & 7] += v[x >> 17 & 7].wzyx;
        sum += v[k & 7].y ^ v[x & 7].z;
    }
    out[i] = sum;
}

// Offsets that are negative before the last sum, in frames of functions.
static NOINLINE uint mirrored(private uint *a, uint p)
{
    uint mine[8];
#pragma unroll 1
    for (uint k = 0; k < 8; k++)
        mine[k] = a[17 - p + k] * (k + 3);
    a[p] += mine[p & 7];
    return mine[7 - (p >> 1 & 7)];
}

kernel void frames(global uint *out, global const uint *in)
{
    uint a[32];
    size_t i = get_global_id(0);
    uint x = in[i], sum = 0;
#pragma unroll 1
    for (uint k = 0; k < 32; k++)
        a[k] = x * (k + 1);
#pragma unroll 1
    for (uint k = 0; k < 12; k++) {
        x = x * 1664525 + 1013904223;
        uint p = (x >> 16) % 18;
        sum = sum * 31 + mirrored(a, p) + a[17 - p];
    }
    out[i] = sum;
}

// More values than registers.
__attribute__((amdgpu_num_vgpr(24)))
kernel void spills(global uint *out, global const uint *in)
{
    uint v[48];
    size_t i = get_global_id(0);
    uint x = in[i];
#pragma unroll
    for (uint k = 0; k < 48; k++)
        v[k] = x * (k + 1) ^ x >> (k & 15);
#pragma unroll 1
    for (uint n = 0; n < 3 + (x & 3); n++) {
#pragma unroll
        for (uint k = 0; k < 48; k++)
            v[k] = v[k] * 3 + (v[(k + 7) % 48] ^ n);
    }
    uint sum = 0;
#pragma unroll
    for (uint k = 0; k < 48; k++)
        sum = sum * 31 + v[k];
    out[i] = sum;
}
