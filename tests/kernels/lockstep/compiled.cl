// Kernels whose lanes exchange values in lockstep: GCN executes an instruction on all lanes of a wave before the next one, so
// that a wave needs no barrier. `tests/exec/differential/lockstep/compiled.rs` says what each one leaves in memory.
//
// Each workgroup has 512 dwords of `data` and of `out`. No access is volatile, for that makes coherent ones, which a
// translator takes with more care: fences of a wavefront keep the compiler's order and become no instruction.
#define DWORDS 512
#define sync()                                                                                 \
    (__builtin_amdgcn_fence(__ATOMIC_ACQ_REL, "wavefront"), __builtin_amdgcn_wave_barrier(),   \
     __builtin_amdgcn_fence(__ATOMIC_ACQ_REL, "wavefront"))
#define LANE __builtin_amdgcn_workitem_id_x()
#define GROUP __builtin_amdgcn_workgroup_id_x()
#define OF(items) __attribute__((reqd_work_group_size(items, 1, 1))) kernel void

#define GLOBAL(name, ...)                                                                      \
    OF(64) name##_global(global uint *data, global uint *out, uint n)                          \
    {                                                                                          \
        uint lane = LANE;                                                                      \
        global uint *t = data + DWORDS * GROUP;                                                \
        out += DWORDS * GROUP;                                                                 \
        __VA_ARGS__                                                                            \
    }

#define LOCAL(name, ...)                                                                       \
    OF(64) name##_local(global uint *data, global uint *out, uint n)                           \
    {                                                                                          \
        local uint t[DWORDS] __attribute__((aligned(16)));                                     \
        uint lane = LANE;                                                                      \
        data += DWORDS * GROUP;                                                                \
        out += DWORDS * GROUP;                                                                 \
        for (uint k = 0; k < DWORDS; k += 64)                                                  \
            t[k + lane] = data[k + lane];                                                      \
        sync();                                                                                \
        __VA_ARGS__                                                                            \
        sync();                                                                                \
        for (uint k = 0; k < DWORDS; k += 64)                                                  \
            data[k + lane] = t[k + lane];                                                      \
    }

// A kernel in global memory and the same in LDS: `t` is the wave's table.
#define BOTH(name, ...) GLOBAL(name, __VA_ARGS__) LOCAL(name, __VA_ARGS__)

BOTH(reverse,
    for (uint k = 0; k < n; k++) {
        uint v = t[lane];
        sync();
        t[63 - lane] = v * 3 + k;
        sync();
    })

#define ROTATE(by)                                                                             \
    BOTH(rotate_##by,                                                                          \
        for (uint k = 0; k < n; k++) {                                                         \
            uint v = t[(lane + by) & 63];                                                      \
            sync();                                                                            \
            t[lane] = v + k;                                                                   \
            sync();                                                                            \
        })
ROTATE(1)
ROTATE(16)
ROTATE(63)

// The counter is in a vector register, the same in all lanes.
BOTH(rotate_more,
    uint k = 1;
    do {
        uint v = t[(lane + k) & 63];
        sync();
        t[lane] = v + k;
        sync();
        k++;
        __asm__ volatile("" : "+v"(k));
    } while (k < n);)

BOTH(scan,
    for (uint d = 1; d < 64; d *= 2) {
        uint v = lane >= d ? t[lane - d] : 0;
        sync();
        t[lane] += v;
        sync();
    })

BOTH(tree,
    for (uint d = 32; d > 0; d /= 2) {
        if (lane < d)
            t[lane] = t[lane] * 3 + t[lane + d];
        sync();
    })

// All lanes act all the time.
BOTH(slide,
    for (uint d = 32; d > 0; d /= 2) {
        uint v = t[lane] * 3 + t[lane + d];
        sync();
        t[lane] = v;
        sync();
    })

BOTH(butterfly,
    for (uint k = 0; k < n; k++) {
        uint v = t[lane ^ 1u << k % 6];
        sync();
        t[lane] = v * 5 + k;
        sync();
    })

// Lanes leave the loop at different times.
BOTH(leave,
    uint v = lane;
    for (uint k = 0; k < n + lane % 16; k++) {
        t[lane] = v * 5 + k;
        sync();
        v = t[(lane * 7 + k) & 63];
        sync();
    }
    out[lane] = v;)

BOTH(smooth,
    for (uint k = 0; k < n; k++) {
        uint v = t[lane] + 2 * t[lane + 1] + 3 * t[lane + 2];
        sync();
        t[lane + 1] = v;
        sync();
    })

// The same from one half of the table to the other.
BOTH(smooth_apart,
    for (uint k = 0; k < n; k++) {
        uint from = k % 2 * 256;
        uint v = t[from + lane] + 2 * t[from + lane + 1] + 3 * t[from + lane + 2];
        t[(from ^ 256) + lane + 1] = v;
        sync();
    })

BOTH(one_place,
    for (uint k = 0; k < n; k++) {
        uint v = t[lane];
        sync();
        t[256 + k % 4] = v;
        sync();
        t[lane] = v * 3 + t[256 + k % 4];
        sync();
    })

BOTH(histogram,
    uint v = t[lane];
    for (uint k = 0; k < n; k++) {
        atomic_add(&t[256 + v % 16], 1);
        sync();
        v = v / 5 + t[256 + lane % 16];
        sync();
    }
    t[lane] = v;)

BOTH(ticket,
    uint v = t[lane];
    for (uint k = 0; k < n; k++) {
        if (v & 1)
            t[320 + atomic_add(&t[256 + lane % 4], 5) % 64] = v;
        sync();
        v = v / 3 + t[320 + ((lane + k) & 63)];
        sync();
    }
    t[lane] = v;)

BOTH(bitonic,
    for (uint k = 2; k <= 64; k *= 2) {
        for (uint j = k / 2; j > 0; j /= 2) {
            uint a = t[lane], b = t[lane ^ j];
            sync();
            t[lane] = ((lane & k) == 0) == ((lane & j) == 0) ? min(a, b) : max(a, b);
            sync();
        }
    })

BOTH(odd_even,
    for (uint k = 0; k < 64; k++) {
        uint i = lane * 2 + k % 2;
        if (i < 63) {
            uint a = t[i], b = t[i + 1];
            if (a > b) {
                t[i] = b;
                t[i + 1] = a;
            }
        }
        sync();
    })

BOTH(transpose,
    for (uint k = 0; k < n; k++) {
        uint v = t[lane];
        sync();
        t[lane % 8 * 8 + lane / 8] = v + k;
        sync();
    })

// A matrix of 16 by 16, four elements for each lane.
BOTH(matrix,
    for (uint k = 0; k < n; k++) {
        uint v[4];
        for (uint j = 0; j < 4; j++)
            v[j] = t[lane + 64 * j];
        sync();
        for (uint j = 0; j < 4; j++)
            t[lane % 16 * 16 + lane / 16 + 4 * j] = v[j] * 3 + k;
        sync();
    })

BOTH(pointers,
    t[64 + lane] &= 63;
    sync();
    for (uint k = 0; k < n; k++) {
        uint next = t[64 + lane];
        uint v = t[lane] + t[next], after = t[64 + next];
        sync();
        t[lane] = v;
        t[64 + lane] = after;
        sync();
    })

#define GLOBAL4 global uint4
#define LOCAL4 local uint4
#define VECTORS(type)                                                                          \
    for (uint k = 0; k < n; k++) {                                                             \
        type *t4 = (type *)t;                                                                  \
        uint4 v = t4[lane + 1];                                                                \
        sync();                                                                                \
        t4[lane] = v.yzwx + k;                                                                 \
        sync();                                                                                \
    }
GLOBAL(vectors, VECTORS(GLOBAL4))
LOCAL(vectors, VECTORS(LOCAL4))

// Records of three dwords: a lane reads its neighbours'.
BOTH(records,
    for (uint k = 0; k < n; k++) {
        uint v = t[lane * 3 + 3] + t[lane * 3 + 5];
        sync();
        t[lane * 3 + 2] = v;
        sync();
        v = t[lane * 3 + 1] ^ t[lane * 3 + 2] + t[lane * 3 + 4];
        sync();
        t[lane * 3 + 4] = v + k;
        sync();
    })

// What a compiler makes of barriers where the workgroup is one wave.
#define FENCE CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE
BOTH(barriers,
    for (uint d = 1; d < 64; d *= 2) {
        uint v = t[(lane + d) & 63];
        barrier(FENCE);
        t[lane] = t[lane] * 3 + v;
        barrier(FENCE);
    })

// As people wrote it for GPUs with lockstep only.
OF(64) volatile_tree(global uint *data, global uint *out, uint n)
{
    volatile local uint t[96];
    uint lane = LANE;
    data += DWORDS * GROUP;
    t[lane] = data[lane];
    t[64 + lane % 32] = lane;
    t[lane] += t[lane + 32];
    t[lane] += t[lane + 16];
    t[lane] += t[lane + 8];
    t[lane] += t[lane + 4];
    t[lane] += t[lane + 2];
    t[lane] += t[lane + 1];
    out[DWORDS * GROUP + lane] = t[lane];
}

// Half of a wave.
OF(32) half_wave(global uint *data, global uint *out, uint n)
{
    local uint t[32];
    uint lane = LANE;
    data += DWORDS * GROUP;
    t[lane] = data[lane];
    for (uint k = 0; k < n; k++) {
        sync();
        uint v = t[(lane + k) & 31];
        sync();
        t[31 - lane] = v * 3 + k;
        sync();
        data[lane + 1] = v;
        sync();
        t[lane] += data[31 - lane];
    }
    out[DWORDS * GROUP + lane] = t[lane];
}

// In each of two waves without barriers, from one to the other with one.
OF(128) two_waves(global uint *data, global uint *out, uint n)
{
    local uint t[128];
    uint lane = LANE;
    data += DWORDS * GROUP;
    t[lane] = data[lane];
    for (uint k = 0; k < n; k++) {
        sync();
        uint v = t[lane ^ 31];
        sync();
        t[lane] = v * 3 + k;
        sync();
        v = t[lane ^ 5];
        barrier(FENCE);
        t[lane ^ 64] = v;
        barrier(FENCE);
    }
    out[DWORDS * GROUP + lane] = t[lane];
}

// The same offsets in scratch, where each lane has its own, and in LDS.
OF(64) scratch(global uint *data, global uint *out, uint n)
{
    local uint t[64];
    uint own[16];
    uint lane = LANE;
    data += DWORDS * GROUP;
    for (uint k = 0; k < 16; k++)
        own[k] = data[(lane + k) & 63];
    t[lane] = data[lane];
    for (uint k = 0; k < n; k++) {
        sync();
        uint v = own[(lane + k) & 15] + t[(lane + k) & 15];
        sync();
        own[k & 15] = t[63 - lane];
        t[lane] = v;
        sync();
        own[lane & 15] += t[lane ^ 1];
    }
    uint sum = t[lane];
    for (uint k = 0; k < 16; k++)
        sum = sum * 3 + own[k];
    out[DWORDS * GROUP + lane] = sum;
}

// Exchanges through registers and through memory in turn.
OF(64) registers(global uint *data, global uint *out, uint n)
{
    local uint t[64];
    uint lane = LANE;
    data += DWORDS * GROUP;
    uint v = data[lane];
    for (uint k = 0; k < n; k++) {
        // Lanes of each 32 in reverse order.
        t[lane] = (uint)__builtin_amdgcn_ds_swizzle((int)v, 0x1f | 0x1f << 10);
        sync();
        v = t[(lane + 33) & 63] + (uint)__builtin_amdgcn_readlane((int)v, (int)(k & 63));
        sync();
#if __has_builtin(__builtin_amdgcn_ds_bpermute) && !defined(__gfx600__)
        v = v * 3 + (uint)__builtin_amdgcn_ds_bpermute((int)((lane * 5 & 63) << 2), (int)t[lane]);
        // Lanes of each row of 16 in reverse order.
        v ^= (uint)__builtin_amdgcn_mov_dpp((int)v, 0x140, 0xf, 0xf, true);
#endif
        data[63 - lane] = v;
        sync();
        v += data[lane ^ 3];
    }
    out[DWORDS * GROUP + lane] = v;
}

#ifndef __gfx600__
// Pointers of which nobody knows what memory they are for.
OF(64) flat(global uint *data, global uint *out, uint n)
{
    local uint t[64];
    uint lane = LANE;
    data += DWORDS * GROUP;
    t[lane] = data[lane + 64];
    sync();
    uint *mine = lane % 2 ? (uint *)&t[lane] : (uint *)&data[lane];
    uint *other = lane % 3 ? (uint *)&t[63 - lane] : (uint *)&data[63 - lane];
    __asm__ volatile("" : "+v"(mine), "+v"(other));
    for (uint k = 0; k < n; k++) {
        uint v = *other;
        sync();
        *mine = v * 3 + k;
        sync();
        v = t[(lane + k) & 63];
        sync();
        *other += v;
        sync();
    }
    out[DWORDS * GROUP + lane] = t[lane];
}
#endif
