// Control flow, the stack, calls, atomics: programs of a few lines whose answers are worked out in
// tests/exec/oracles/control.rs by other algorithms.
#include "oracle.h"
#pragma OPENCL EXTENSION __cl_clang_function_pointers : enable

#define NOINLINE __attribute__((noinline))

// A dense switch, a sparse one, and one that falls through.
kernel void switches(SLOTS)
{
    BEGIN(3)
    uint x = (uint)a[i], y = (uint)b[i], r = 0;
    switch (x & 15) {
    case 0: r = y + 1; break;
    case 1: r = y * 3; break;
    case 2: r = y ^ 0x55; break;
    case 3: r = y >> 3; break;
    case 4: r = y << 4; break;
    case 5: r = ~y; break;
    case 6: r = y - x; break;
    case 7: r = y & x; break;
    case 9: r = y | x; break;
    case 12: r = rotate(y, 9u); break;
    default: r = 12345; break;
    }
    *out++ = r;
    switch (y & 0xff00) {
    case 0x0100: r = 1; break;
    case 0x1700: r = 22; break;
    case 0x8000: r = 333; break;
    case 0xfe00: r = 4444; break;
    case 0xff00: r = 55555; break;
    default: r = (y >> 8 & 255) < 100 ? 6 : 7; break;
    }
    *out++ = r;
    uint s = 1;
    switch (x % 7) {
    case 6: s = s * 3 + 1;
    case 5: s = s * 5 + 2;
    case 4: if (y & 1) break; s += 1000;
    case 3: s = s * 7 + 3;
    case 2: s ^= y & 0xff; break;
    case 1: s = 17;
    }
    *out++ = s;
}

// Loops that lanes leave at different times, in different ways.
kernel void loops(SLOTS)
{
    BEGIN(4)
    uint x = (uint)a[i], y = (uint)b[i];
    uint n = (x & 0x3ff) + 1, steps = 0;
    while (n != 1) {
        n = n & 1 ? 3 * n + 1 : n / 2;
        steps++;
    }
    *out++ = steps;
    // Greatest common divisor by subtraction and shifts.
    uint p = (x & 0xffff) | 1, q = (y & 0xffff) | 1;
    while (p != q) {
        if (p > q) { p -= q; while (!(p & 1)) p >>= 1; }
        else { q -= p; while (!(q & 1)) q >>= 1; }
    }
    *out++ = p;
    // Trial division with continue, break and a nested loop.
    uint limit = (x >> 16) & 127, count = 0;
    for (uint m = 2; m <= limit; m++) {
        bool prime = true;
        for (uint d = 2; d * d <= m; d++) {
            if (m % d) continue;
            prime = false;
            break;
        }
        count += prime;
    }
    *out++ = count;
    // Power modulo a number of 31 bits.
    ulong modulus = (y & 0x7fffffff) | 1, base = x % modulus, power = 1 % modulus;
    for (uint e = (uint)(c[i] >> 20) & 0xffff; e; e >>= 1) {
        if (e & 1) power = power * base % modulus;
        base = base * base % modulus;
    }
    *out++ = power;
}

// Arrays on the stack, of every width, indexed by variables.
kernel void stack(SLOTS)
{
    BEGIN(5)
    volatile uchar bytes[256];
#pragma unroll 1
    for (uint k = 0; k < 256; k++)
        bytes[k] = k;
    // The permutation of RC4, keyed by the slot, and its first bytes.
    uint j = 0;
#pragma unroll 1
    for (uint k = 0; k < 256; k++) {
        uchar s = bytes[k];
        j = (j + s + (uchar)(a[i] >> 8 * (k & 7))) & 255;
        bytes[k] = bytes[j];
        bytes[j] = s;
    }
    ulong stream = 0;
    j = 0;
    for (uint k = 1; k <= 8; k++) {
        uchar s = bytes[k];
        j = (j + s) & 255;
        uchar t = bytes[j];
        bytes[k] = t;
        bytes[j] = s;
        stream = stream << 8 | bytes[(s + t) & 255];
    }
    *out++ = stream;
    // Sixteen halfwords sorted by insertion.
    volatile short sorted[17];
    for (uint k = 0; k < 16; k++) {
        short v = (short)((k & 8 ? b[i] : a[i]) >> 4 * (k & 7));
        uint at = k;
        while (at > 0 && sorted[at - 1] > v) {
            sorted[at] = sorted[at - 1];
            at--;
        }
        sorted[at] = v;
    }
    ulong hash = 0;
    for (uint k = 0; k < 16; k++)
        hash = hash * 31 + (ushort)sorted[k];
    *out++ = hash;
    // Fibonacci numbers from different seeds, in dwords and in qwords.
    volatile uint words[40];
    words[0] = (uint)b[i];
    words[1] = (uint)c[i];
    for (uint k = 2; k < 40; k++)
        words[k] = words[k - 1] + words[k - 2];
    *out++ = words[(uint)(a[i] >> 32) % 40];
    volatile ulong wide[20];
    wide[0] = b[i];
    wide[1] = c[i];
    for (uint k = 2; k < 20; k++)
        wide[k] = wide[k - 1] ^ rotate(wide[k - 2], (ulong)k);
    *out++ = wide[(uint)(a[i] >> 32) % 20];
    // Vectors of four dwords.
    volatile uint4 rows[8];
    for (uint k = 0; k < 8; k++)
        rows[k] = (uint4)(k, (uint)a[i] + k, (uint)b[i] * k, (uint)c[i] ^ k);
    uint4 row = rows[(uint)(c[i] >> 40) & 7];
    *out++ = (ulong)(row.x + row.y) << 32 | (row.z ^ row.w);
}

static NOINLINE uint first(uint x, uint y) { return x + 2 * y; }
static NOINLINE uint second(uint x, uint y) { return x * y ^ y >> 3; }
static NOINLINE uint third(uint x, uint y) { return y ? x % y : x; }
static NOINLINE uint fourth(uint x, uint y) { return first(y, x) - second(x, y | 1); }
typedef uint (*function_t)(uint, uint);
constant function_t FUNCTIONS[4] = { first, second, third, fourth };

// Ackermann's function by recursion, on a real stack.
static NOINLINE uint ackermann(uint m, uint n)
{
    if (m == 0) return n + 1;
    if (n == 0) return ackermann(m - 1, 1);
    return ackermann(m - 1, ackermann(m, n - 1));
}

kernel void calls(SLOTS)
{
    BEGIN(3)
    uint x = (uint)a[i], y = (uint)b[i], z = (uint)c[i];
    uint r = x;
    for (uint k = 0; k < 8; k++)
        r = FUNCTIONS[(z >> 2 * k) & 3](r, y + k);
    *out++ = r;
    // The same function in the whole wave.
    *out++ = FUNCTIONS[__builtin_amdgcn_readfirstlane(z) & 3](x, y);
    *out++ = ackermann(x & 1 ? 2 : 1, y & 7);
}

// What each lane's atomic operation returns and what is left behind; the operations of a wave are
// done in the order of the lanes.
#define ATOMIC(NAME, FUNCTION, START) \
    kernel void NAME(SLOTS) \
    { \
        BEGIN(2) \
        local uint cells[5]; \
        uint l = __builtin_amdgcn_workitem_id_x(); \
        if (l < 5) cells[l] = START; \
        barrier(CLK_LOCAL_MEM_FENCE); \
        *out++ = FUNCTION(&cells[(uint)b[i] % 5], (uint)a[i]); \
        barrier(CLK_LOCAL_MEM_FENCE); \
        *out++ = cells[l % 5]; \
    }
ATOMIC(lds_add, atomic_add, 5)
ATOMIC(lds_sub, atomic_sub, 5)
ATOMIC(lds_xchg, atomic_xchg, 5)
ATOMIC(lds_min, atomic_min, 0xffffffff)
ATOMIC(lds_max, atomic_max, 5)
#define SIGNED_MIN(p, v) atomic_min((local int *)(p), (int)(v))
ATOMIC(lds_smin, SIGNED_MIN, 0x7fffffff)
ATOMIC(lds_and, atomic_and, 0xffffffff)
ATOMIC(lds_or, atomic_or, 5)
ATOMIC(lds_xor, atomic_xor, 5)

// One cell for the whole wave, without the value being the same in all lanes: the compiler makes
// a scan over the lanes of it.
kernel void scan(SLOTS)
{
    BEGIN(1)
    local uint cell;
    cell = 1000;
    barrier(CLK_LOCAL_MEM_FENCE);
    *out++ = atomic_add(&cell, (uint)a[i]);
}

// Atomics on global memory, each work-item on cells of its own: what is left, and what was returned.
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable
kernel void global_atomics(SLOTS)
{
    BEGIN(10)
    volatile global uint *cells = (volatile global uint *)out;
    volatile global long *wide = (volatile global long *)out;
    uint x = (uint)a[i], y = (uint)b[i];
    for (uint k = 0; k < 4; k++)
        cells[2 * k] = y;
    cells[1] = atomic_add(&cells[0], x);
    cells[3] = atomic_cmpxchg(&cells[2], x & 1 ? y : ~y, x);
    cells[5] = atomic_inc(&cells[4]);
    cells[7] = atomic_max((volatile global int *)&cells[6], (int)x);
    wide[4] = wide[6] = wide[8] = b[i];
    wide[5] = atom_add(&wide[4], (long)a[i]);
    wide[7] = atom_min(&wide[6], (long)a[i]);
    wide[9] = atom_cmpxchg(&wide[8], (long)(x & 1 ? b[i] : a[i]), (long)c[i]);
}
