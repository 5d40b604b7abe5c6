// Loads and stores of every width and kind, at every legal alignment, in global memory, LDS and
// scratch.

// Each work-item has 32 elements of its own: it copies vectors of 2, 3, 4, 8 and 16 elements from
// their place `shift` elements on, adding to them, and leaves every element between alone. vloadn
// needs the alignment of an element only.
#define VECTORS(T, from, to)                                                                   \
    do {                                                                                       \
        vstore2(vload2(0, (from) + shift) + (T)1, 0, (to) + shift);                            \
        vstore3(vload3(0, (from) + 2 + shift) + (T)2, 0, (to) + 2 + shift);                    \
        vstore4(vload4(0, (from) + 5 + shift) + (T)3, 0, (to) + 5 + shift);                    \
        vstore8(vload8(0, (from) + 9 + shift) + (T)4, 0, (to) + 9 + shift);                    \
        vstore16(vload16(0, (from) + 14 + shift) + (T)5, 0, (to) + 14 + shift);                \
    } while (0)

#define KERNELS(T)                                                                             \
    kernel void vector_global_##T(global T *out, global const T *in, uint shift)               \
    {                                                                                          \
        size_t at = get_global_id(0) * 32;                                                     \
        VECTORS(T, in + at, out + at);                                                         \
    }                                                                                          \
    kernel void vector_local_##T(global T *out, global const T *in, uint shift)                \
    {                                                                                          \
        local T tile[64 * 32], other[64 * 32];                                                 \
        size_t base = get_group_id(0) * 64 * 32, lid = get_local_id(0);                        \
        for (uint k = 0; k < 32; k++) {                                                        \
            tile[lid + k * 64] = in[base + lid + k * 64];                                      \
            other[lid + k * 64] = out[base + lid + k * 64];                                    \
        }                                                                                      \
        barrier(CLK_LOCAL_MEM_FENCE);                                                          \
        VECTORS(T, tile + lid * 32, other + lid * 32);                                         \
        barrier(CLK_LOCAL_MEM_FENCE);                                                          \
        for (uint k = 0; k < 32; k++)                                                          \
            out[base + lid + k * 64] = other[lid + k * 64];                                    \
    }                                                                                          \
    kernel void vector_private_##T(global T *out, global const T *in, uint shift)              \
    {                                                                                          \
        T mine[32], result[32];                                                                \
        size_t at = get_global_id(0) * 32;                                                     \
        for (uint k = 0; k < 32; k++) {                                                        \
            mine[k] = in[at + k];                                                              \
            result[k] = out[at + k];                                                           \
        }                                                                                      \
        VECTORS(T, mine, result);                                                              \
        for (uint k = 0; k < 32; k++)                                                          \
            out[at + k] = result[k];                                                           \
    }

KERNELS(uchar)
KERNELS(ushort)
KERNELS(uint)
KERNELS(ulong)

// Structures without padding: everything but the first field is misaligned.
typedef struct __attribute__((packed)) {
    uchar a;
    ushort b;
    uint c;
    ulong d;
} packed_t;

static packed_t turn(packed_t p)
{
    packed_t q = { (uchar)(p.a + p.b), (ushort)(p.b ^ (ushort)p.c), p.c + (uint)(p.d >> 32),
                   p.d * 3 + p.a };
    return q;
}

kernel void packed(global packed_t *all)
{
    local packed_t tile[64];
    packed_t mine[4];
    size_t i = get_global_id(0), lid = get_local_id(0);
    tile[lid] = turn(all[i]);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint k = 0; k < 4; k++)
        mine[k] = turn(tile[(lid + k) & 63]);
    all[i] = turn(mine[mine[0].a & 3]);
}

// Bytes and halfwords, signed and unsigned, sign or zero extended, from every memory; stores of the
// low bits.
constant char TABLE8[16] = { 0, 1, -1, 127, -128, 64, -64, 85, 2, -2, 99, -99, 11, 22, -33, -44 };
constant ushort TABLE16[8] = { 0, 1, 65535, 32767, 32768, 43690, 21845, 256 };

kernel void subdword(global int *sums, global uchar *bytes, global ushort *halves,
                     global const char *in8, global const short *in16)
{
    local char tile8[66];
    local ushort tile16[66];
    char mine8[8];
    ushort mine16[8];
    size_t i = get_global_id(0), lid = get_local_id(0);
    tile8[lid] = in8[i];
    tile16[lid] = (ushort)in16[i];
    for (uint k = 0; k < 8; k++) {
        mine8[k] = in8[i + k];
        mine16[k] = (ushort)(in16[i + k] * 3);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    char a = tile8[lid ^ 1];
    uchar b = (uchar)in8[i];
    short c = (short)tile16[lid ^ 3];
    ushort d = (ushort)in16[i];
    char e = mine8[b & 7];
    ushort f = mine16[(b >> 3) & 7];
    sums[i] = a * 3 + b * 5 + c * 7 + d * 11 + e * 13 + f * 17
            + TABLE8[b & 15] * 19 + TABLE16[d & 7] * 23;
    bytes[i] = (uchar)(a + c);
    halves[i] = (ushort)(f - e);
}

// Pairs of 16 bits put together from two loads and taken apart for two stores: the D16 forms of gfx9.
kernel void pairs(global ushort *out, global const ushort *in, global const uchar *bytes)
{
    local ushort tile[128];
    size_t i = get_global_id(0), lid = get_local_id(0);
    tile[lid] = in[i];
    tile[lid + 64] = (ushort)~in[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    ushort2 v = (ushort2)(in[i], in[i + 1]);
    ushort2 w = (ushort2)(tile[lid ^ 5], tile[64 + (lid ^ 9)]);
    ushort2 x = (ushort2)((ushort)bytes[i], (ushort)(short)(char)bytes[i + 1]);
    ushort2 sum = v + w * x;
    out[i * 4] = sum.x;
    out[i * 4 + 1] = sum.y;
    out[i * 4 + 2] = (ushort)(w.y ^ v.x);
    out[i * 4 + 3] = x.y;
}

// Half precision in memory, single precision in registers.
kernel void halves(global half *out, global const half *in)
{
    size_t i = get_global_id(0);
    float4 v = vload_half4(i, in);
    float one = vload_half(i * 3, in);
    vstore_half4_rte(v * 1.5f + one, i, out);
    vstore_half_rtz(one * 0.3f, i, out + 4 * get_global_size(0));
}

// Structures by value, one of them indexed by a variable.
typedef struct { uchar tag; uint weight; } item_t;
typedef struct {
    char c;
    short s;
    item_t items[5];
    float4 v;
    ulong big;
    uchar3 rgb;
} config_t;

kernel void structs(global ulong *out, config_t config, uchar tail, item_t last)
{
    size_t i = get_global_id(0);
    item_t item = config.items[i % 5];
    ulong sum = config.c * 3 + config.s + item.tag * 1000 + item.weight;
    sum = sum * 31 + (ulong)((i & 1 ? config.v.x : config.v.w) * 4.0f);
    sum = sum * 31 + config.big + config.rgb.z + tail;
    out[i] = sum * 31 + last.tag + last.weight;
}

// A private array that every lane indexes on its own: insertion sort, and a histogram in bytes.
kernel void sorted(global int *out, global ulong *codes, global const int *in)
{
    int a[24];
    uchar counts[16];
    ulong wide[4];
    size_t i = get_global_id(0);
    for (uint k = 0; k < 16; k++)
        counts[k] = 0;
    for (uint k = 0; k < 4; k++)
        wide[k] = k;
    for (uint k = 0; k < 24; k++) {
        int value = in[i * 24 + k];
        uint at = k;
        while (at > 0 && a[at - 1] > value) {
            a[at] = a[at - 1];
            at--;
        }
        a[at] = value;
        counts[value & 15]++;
        wide[value & 3] = wide[(value >> 2) & 3] * 5 + counts[value & 15];
    }
    for (uint k = 0; k < 24; k++)
        out[i * 24 + k] = a[k];
    codes[i] = wide[0] ^ wide[1] << 1 ^ wide[2] << 2 ^ wide[3] << 3 ^ counts[a[7] & 15];
}

// LDS that the launch sizes, of two types, with a static array beside it.
kernel void local_arguments(global uint *out, local uint *a, local ulong *b, local uchar *c, uint n)
{
    local uint fixed[64];
    uint lid = (uint)get_local_id(0), count = (uint)get_local_size(0);
    fixed[lid & 63] = 7;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint k = lid; k < n; k += count) {
        a[k] = k * 3;
        b[k] = (ulong)k << 33 | k;
        c[k] = (uchar)(k * 7);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint k = (lid * 5 + 1) % n;
    out[get_global_id(0)] = a[k] + (uint)(b[k] >> 32) + (uint)b[k] + c[k] + fixed[lid & 63];
}
