// Pointers whose memory only the address tells: in one instruction some lanes access LDS, some
// scratch and some global memory. For gfx700 and newer.
#define NOINLINE __attribute__((noinline))
#define WORDS 16

static NOINLINE void touch8(uchar *p, uint at) { p[at] = (uchar)(p[at] * 3 + at); }
static NOINLINE void touch16(short *p, uint at) { p[at] = (short)(p[at + 1] - p[at] * 5); }
static NOINLINE void touch32(uint *p, uint at) { p[at] = p[at] * 7 + p[at ^ 1]; }
static NOINLINE void touch64(ulong *p, uint at) { p[at] = p[at ^ 1] * 9 + at; }
static NOINLINE void touch128(uint4 *p) { p[0] = p[1].wzyx + p[0]; }
static NOINLINE uint swap(volatile uint *p, uint value)
{
    return __opencl_atomic_exchange((volatile atomic_uint *)p, value, memory_order_relaxed,
                                    memory_scope_device);
}
static NOINLINE uint add(volatile uint *p, uint value)
{
    return __opencl_atomic_fetch_add((volatile atomic_uint *)p, value, memory_order_relaxed,
                                     memory_scope_device);
}
static NOINLINE ulong wide_max(volatile ulong *p, ulong value)
{
    return __opencl_atomic_fetch_max((volatile atomic_ulong *)p, value, memory_order_relaxed,
                                     memory_scope_device);
}

kernel void generic_memory(global uint *out, global uint *table, global const uint *in)
{
    local uint4 tile4[64 * WORDS / 4];
    uint4 mine4[WORDS / 4];
    local uint *tile = (local uint *)tile4;
    uint *mine = (uint *)mine4;
    size_t i = get_global_id(0), lid = get_local_id(0);
    for (uint k = 0; k < WORDS; k++) {
        mine[k] = in[i * WORDS + k];
        tile[lid * WORDS + k] = in[i * WORDS + k];
        table[i * WORDS + k] = in[i * WORDS + k];
    }
    uint kind = in[i * WORDS] % 3;
    uint *p = kind == 0 ? (uint *)(table + i * WORDS)
            : kind == 1 ? (uint *)(tile + lid * WORDS)
                        : mine;
    uint at = in[i * WORDS + 1];
    touch8((uchar *)p, at & 63);
    touch16((short *)p, at >> 6 & 15);
    touch32(p, at >> 11 & 15);
    touch64((ulong *)p, at >> 15 & 7);
    touch128((uint4 *)p);
    uint sum = swap(p + (at >> 18 & 15), at);
    sum = sum * 31 + add(p + (at >> 22 & 15), sum);
    sum = sum * 31 + (uint)wide_max((ulong *)p + (at >> 26 & 7), (ulong)at << 32);
    for (uint k = 0; k < WORDS; k++)
        sum = sum * 31 + p[k];
    out[i] = sum;
}

// Which memory a pointer is of, and null pointers of each.
kernel void generic_kind(global uint *out, global uint *table, local uint *shared, uint null)
{
    uint mine[2] = { 1, 2 };
    size_t i = get_global_id(0);
    shared[get_local_id(0)] = 0;
    uint *p = i % 3 == 0 ? (uint *)table : i % 3 == 1 ? (uint *)shared : mine + (i & 1);
    local uint *l = i % 5 < null ? (local uint *)0 : shared;
    private uint *s = i % 7 < null ? (private uint *)0 : mine;
    uint bits = 0;
    bits |= to_global(p) != 0 ? 1 : 0;
    bits |= to_local(p) != 0 ? 2 : 0;
    bits |= to_private(p) != 0 ? 4 : 0;
    bits |= (uint *)l == 0 ? 8 : 0;
    bits |= (uint *)s == 0 ? 16 : 0;
    bits |= to_local((uint *)l) == l ? 32 : 0;
    out[i] = bits;
}

// Atomics through such pointers, many work-items on few cells.
kernel void generic_atomics(global uint *cells, global uint *sums, global const uint *in)
{
    local uint tile[4];
    size_t i = get_global_id(0), lid = get_local_id(0);
    if (lid < 4)
        tile[lid] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    uint at = in[i];
    uint *p = at & 4 ? (uint *)&tile[at & 3] : (uint *)&cells[at & 3];
    add(p, at >> 3);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lid < 4)
        sums[get_group_id(0) * 4 + lid] = tile[lid];
}
