// Accesses of different sizes that overlap, bytes and bits.
#include "pair.h"

// Wave 0 stores words, wave 1 their last bytes.
kernel void NAME(lds_byte_of_word)(const global uint *x, global uint *y) {
    local uint words[64];
    uint l = get_local_id(0), k = l % 64;
    if (l < 64)
        words[k] = x[get_global_id(0)];
    REPAIR(barrier(CLK_LOCAL_MEM_FENCE);)
    if (l >= 64)
        ((local uchar *)words)[4 * k + 3] = k;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l < 64)
        y[get_group_id(0) * 64 + k] = words[k];
}

// Wave 0 stores 64 bits, of which wave 1 loads the upper half.
kernel void NAME(lds_half_of_wide)(const global uint *x, global uint *y) {
    local ulong wide[64];
    uint l = get_local_id(0), k = l % 64;
    if (l < 64)
        wide[k] = (ulong)x[get_global_id(0)] << 32 | k;
    REPAIR(barrier(CLK_LOCAL_MEM_FENCE);)
    if (l >= 64)
        y[get_group_id(0) * 64 + k] = ((local uint *)wide)[2 * k + 1];
}

// Each work-item ends its two half words with a zero, which is the next one's.
kernel void NAME(lds_terminator)(const global uint *x, global uint *y) {
    local ushort halves[257];
    uint l = get_local_id(0), i = get_global_id(0);
    halves[2 * l] = x[i] + 1;
    halves[2 * l + 1] = x[i] >> 4;
    if (EITHER(l % 64 == 63, l == 127))
        halves[2 * l + 2] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    y[i] = halves[2 * l] << 16 | halves[2 * l + 2];
}

// Makes the first letter of each word upper case, in place.
kernel void NAME(title_case)(const global uint *x, global uint *y) {
    local uchar text[128];
    uint l = get_local_id(0), i = get_global_id(0);
    text[l] = x[i] % 3 ? 'a' + x[i] % 26 : ' ';
    barrier(CLK_LOCAL_MEM_FENCE);
    uchar before = l == 0 ? ' ' : text[l - 1], letter = text[l];
    REPAIR(barrier(CLK_LOCAL_MEM_FENCE);)
    text[l] = letter != ' ' && before == ' ' ? letter - 32 : letter;
    barrier(CLK_LOCAL_MEM_FENCE);
    y[i] = text[l];
}

#ifdef RACY
struct particle {
    uint id;
    ushort cell;
    uchar kind, flags;
};
#endif

// Wave 0 stores whole structures, wave 1 one of their fields.
kernel void NAME(lds_field)(const global uint *x, global uint *y) {
    local struct particle particles[64];
    uint l = get_local_id(0), k = l % 64, i = get_global_id(0);
    if (l < 64)
        particles[k] = (struct particle){x[i], k, 1, 2};
    REPAIR(barrier(CLK_LOCAL_MEM_FENCE);)
    if (l >= 64)
        particles[k].flags = x[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l < 64)
        y[get_group_id(0) * 64 + k] = particles[k].id * 1000 + particles[k].cell + particles[k].flags;
}

// A border of one byte between workgroups: the last byte of each is its own to colour, not the next one's.
kernel void NAME(byte_border)(const global uint *x, global uchar *y) {
    uint l = get_local_id(0), i = get_global_id(0);
    y[i] = x[i] / 17;
    EITHER(if (l == 0 && i > 0) y[i - 1] = 255, if (l == get_local_size(0) - 1) y[i] = 255);
}

// Each workgroup has a byte of a word.
kernel void NAME(byte_in_word)(const global uint *x, global uint *y) {
    uint group = get_group_id(0), value = x[group] & 127;
    if (get_local_id(0) == 0)
        EITHER(y[group / 4] |= value << group % 4 * 8, ((global uchar *)y)[group] = value);
}

// A counter of 64 bits.
kernel void NAME(counter_halves)(const global uint *x, global uint *y) {
    uint low = 0xc0000000 + x[get_group_id(0)];
    if (get_local_id(0) == 0) {
#ifdef RACY
        y[0] += low;
        y[1] += y[0] < low;
#else
        atomic_fetch_add_explicit((global atomic_ulong *)y, (ulong)low, memory_order_relaxed, memory_scope_device);
#endif
    }
}

kernel void NAME(bitmap)(const global uint *x, global uint *y) {
    uint value = x[get_global_id(0)] % 256, bit = 1u << value % 32;
    EITHER(y[value / 32] |= bit, atomic_or(&y[value / 32], bit));
}

// Each workgroup stores a pair of words; the pairs overlap.
kernel void NAME(overlapping_pairs)(const global uint *x, global uint *y) {
    uint group = get_group_id(0);
    if (get_local_id(0) == 0)
        vstore2((uint2)(x[group], x[group] + 100), 0, y + group * EITHER(1, 2));
}
