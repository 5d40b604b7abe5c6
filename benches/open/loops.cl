// Loops whose counters differ from lane to lane, and loops over bits.

// Steps from a number to 1 by Collatz's rule.
kernel void collatz(global uint *steps, uint first)
{
    uint id = (uint)get_global_id(0);
    ulong x = first + id;
    uint count = 0;
    while (x != 1) {
        x = x & 1 ? 3 * x + 1 : x >> 1;
        count++;
    }
    steps[id] = count;
}

// Greatest common divisors after Euclid.
kernel void gcd(global uint *out, global const uint *a, global const uint *b, uint n)
{
    uint id = (uint)get_global_id(0);
    if (id >= n)
        return;
    uint x = a[id], y = b[id];
    while (y != 0) {
        uint rest = x % y;
        x = y;
        y = rest;
    }
    out[id] = x;
}

// Integer square roots, bit by bit.
kernel void square_root(global uint *roots, global const ulong *numbers)
{
    size_t id = get_global_id(0);
    ulong x = numbers[id] >> (id & 31), root = 0, bit = 1ul << 62;
    while (bit > x)
        bit >>= 2;
    while (bit != 0) {
        if (x >= root + bit) {
            x -= root + bit;
            root = (root >> 1) + bit;
        } else {
            root >>= 1;
        }
        bit >>= 2;
    }
    roots[id] = (uint)root;
}
