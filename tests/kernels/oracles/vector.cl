// Vectors: packed operations, elements chosen by a variable, shuffles; results in the order of
// tests/exec/oracles/vector.rs.
#include "oracle.h"

#define OUT(x) *out++ = as_ulong(x);

#define PACKED(NAME, V, SIGNED_V, UNSIGNED_V, ONES) \
    kernel void NAME(SLOTS) \
    { \
        BEGIN(16) \
        V x = as_##V(a[i]), y = as_##V(b[i]), z = as_##V(c[i]); \
        UNSIGNED_V s = as_##UNSIGNED_V(b[i]) & ONES; \
        OUT(x + y) OUT(x - y) OUT(x * y) OUT(x * y + z) OUT(min(x, y)) OUT(max(x, y)) \
        OUT(x << s) OUT(x >> s) OUT(add_sat(x, y)) OUT(sub_sat(x, y)) OUT(hadd(x, y)) \
        OUT(abs_diff(x, y)) OUT(mul_hi(x, y)) OUT(rotate(x, y)) \
        OUT(x < y ? x : z) OUT(x == y) \
    }
PACKED(packed_u8, uchar8, char8, uchar8, (uchar)7)
PACKED(packed_s8, char8, char8, uchar8, (uchar)7)
PACKED(packed_u16, ushort4, short4, ushort4, (ushort)15)
PACKED(packed_s16, short4, short4, ushort4, (ushort)15)
PACKED(packed_u32, uint2, int2, uint2, 31u)
PACKED(packed_s32, int2, int2, uint2, 31u)

// Bytes and halfwords moved about.
kernel void shuffles(SLOTS)
{
    BEGIN(13)
    uchar8 x = as_uchar8(a[i]), y = as_uchar8(b[i]), m = as_uchar8(c[i]);
    ushort4 p = as_ushort4(a[i]), q = as_ushort4(b[i]), r = as_ushort4(c[i]);
    OUT(shuffle(x, m)) OUT(shuffle2(x, y, m)) OUT(shuffle(p, r)) OUT(shuffle2(p, q, r))
    OUT(x.s76543210) OUT(x.s10325476) OUT((uchar8)(x.even, y.odd)) OUT((uchar8)(x.s0, y.s1, x.s2, y.s3, x.s7, y.s6, x.s5, y.s4))
    OUT(p.s3210) OUT((ushort4)(p.s1, q.s2, q.s0, p.s3)) OUT((ushort4)(p.lo, q.hi))
    OUT(bitselect(x, y, m)) OUT(select(x, y, m))
}

// A table in registers, read and written at a place that is the same for the wave or that differs
// by lane.
kernel void registers(SLOTS)
{
    BEGIN(6)
    uint16 t;
    uint x = (uint)a[i], y = (uint)b[i], z = (uint)c[i];
    uint *e = (uint *)&t;
    for (uint k = 0; k < 16; k++)
        e[k] = x * (2 * k + 1) + (y >> k);
    uint lane_index = z & 15, wave_index = __builtin_amdgcn_readfirstlane(z >> 4) & 15;
    *out++ = t[lane_index];
    *out++ = t[wave_index];
    t[wave_index] = y;
    t[(z >> 8) & 15] = x ^ z;
    *out++ = t[(wave_index + 3) & 15];
    *out++ = t[(z >> 12) & 15];
    uint sum = 0;
    for (uint k = 0; k < 16; k++)
        sum = sum * 5 + t[k];
    *out++ = sum;
    ulong8 wide = (ulong8)(a[i], b[i], c[i], a[i] + b[i], b[i] ^ c[i], ~a[i], ~b[i], ~c[i]);
    *out++ = wide[lane_index & 7] - wide[wave_index & 7];
}

// Exchange between lanes by the instructions for it. What lanes outside the wave's grid would give
// is not asked for: the last wave is full in this launch.
kernel void lanes(SLOTS)
{
    BEGIN(16)
    uint x = (uint)a[i], z = (uint)c[i];
    *out++ = (uint)__builtin_amdgcn_readfirstlane(x);
    *out++ = (uint)__builtin_amdgcn_readlane(x, __builtin_amdgcn_readfirstlane(z) & 63);
    *out++ = (uint)__builtin_amdgcn_ds_swizzle(x, 0x8000 | 0x1b); // quad reversed
    *out++ = (uint)__builtin_amdgcn_ds_swizzle(x, 0x1f | 5 << 10); // lane ^ 5
    *out++ = (uint)__builtin_amdgcn_ds_swizzle(x, 0x18 | 3 << 5); // (lane & 24) | 3
    *out++ = __builtin_amdgcn_uicmpl(a[i], b[i], 36); // lanes where a is unsigned less
    *out++ = __builtin_amdgcn_mbcnt_hi(-1, __builtin_amdgcn_mbcnt_lo(-1, 0));
    bool odd = x & 1;
    ulong ballot = __builtin_amdgcn_uicmp(x & 1, 1, 32);
    *out++ = odd ? __builtin_amdgcn_mbcnt_hi(ballot >> 32, __builtin_amdgcn_mbcnt_lo((uint)ballot, 0)) : 99;
#if defined(__gfx803__) || defined(__gfx900__) || defined(__gfx906__)
    *out++ = (uint)__builtin_amdgcn_ds_bpermute(z << 2, x);
    *out++ = (uint)__builtin_amdgcn_ds_permute(((z & ~63u) + (i ^ 21)) << 2, x);
    *out++ = (uint)__builtin_amdgcn_mov_dpp(x, 0x4e, 0xf, 0xf, true); // quad_perm 2,3,0,1
    *out++ = (uint)__builtin_amdgcn_update_dpp(77, x, 0x113, 0xf, 0xf, false); // row_shr 3
    *out++ = (uint)__builtin_amdgcn_update_dpp(78, x, 0x102, 0xf, 0xf, true); // row_shl 2
    *out++ = (uint)__builtin_amdgcn_update_dpp(79, x, 0x125, 0xa, 0x5, false); // row_ror 5
    *out++ = (uint)__builtin_amdgcn_update_dpp(80, x, 0x138, 0xf, 0xf, false); // wave_shr 1
    *out++ = (uint)__builtin_amdgcn_mov_dpp(x, 0x140, 0xf, 0xf, true) // row_mirror
        + (uint)__builtin_amdgcn_mov_dpp(x, 0x141, 0xf, 0xf, true); // row_half_mirror
#endif
}
