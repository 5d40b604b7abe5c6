// Recursion and function pointers: a stack whose depth the compiler does not know.
#pragma OPENCL EXTENSION __cl_clang_function_pointers : enable
#define NOINLINE __attribute__((noinline))

static NOINLINE uint ackermann(uint m, uint n)
{
    if (m == 0)
        return n + 1;
    if (n == 0)
        return ackermann(m - 1, 1);
    return ackermann(m - 1, ackermann(m, n - 1));
}

// Two functions that call each other, with arrays on the stack of every level.
static uint odd(uint n, private const uint *path);

static NOINLINE uint even(uint n, private const uint *path)
{
    uint mine[4];
    for (uint k = 0; k < 4; k++)
        mine[k] = path[k] * 3 + n;
    return n == 0 ? mine[1] : odd(n - 1, mine) + mine[n & 3];
}

static NOINLINE uint odd(uint n, private const uint *path)
{
    uint mine[4];
    for (uint k = 0; k < 4; k++)
        mine[k] = path[3 - k] ^ n;
    return n == 0 ? mine[2] : even(n - 1, mine) + mine[n & 3];
}

kernel void recursion(global uint *out, global const uint *in)
{
    size_t i = get_global_id(0);
    uint path[4] = { in[i], (uint)i, 1, 2 };
    uint n = in[i] % 13;
    out[i * 2] = ackermann(in[i] % 3, in[i] % 5);
    out[i * 2 + 1] = i & 1 ? odd(n, path) : even(n, path);
}

typedef uint (*step_t)(uint);

static uint twice(uint a) { return a * 2; }
static uint plus(uint a) { return a + 13; }
static uint mix(uint a) { return (a << 7) ^ (a >> 3); }
static uint both(uint a) { return twice(plus(a)); }

// Calls through a table in global memory that another kernel filled, so that nothing is known of
// the targets; lanes differ.
kernel void fill(global ulong *table)
{
    table[0] = (ulong)(step_t)twice;
    table[1] = (ulong)(step_t)plus;
    table[2] = (ulong)(step_t)mix;
    table[3] = (ulong)(step_t)both;
}

kernel void indirect(global uint *out, global const ulong *table, global const uint *in)
{
    size_t i = get_global_id(0);
    uint a = in[i];
    for (uint k = 0; k < 6; k++)
        a = ((step_t)table[(a >> k ^ i) & 3])(a);
    out[i] = a;
}
