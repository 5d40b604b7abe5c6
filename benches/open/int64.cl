// Integers of 64 bits.

// Quotients and remainders of numbers of many lengths.
kernel void divide(global long *quotients, global long *remainders, global const long *a,
                   global const long *b)
{
    size_t id = get_global_id(0);
    long x = a[id], y = b[id] >> (id & 63);
    if (y == 0)
        y = 1;
    quotients[id] = x / y;
    remainders[id] = x % y;
}

// Powers modulo odd numbers of 32 bits.
kernel void power_mod(global uint *out, global const uint *bases, global const uint *exponents,
                      global const uint *moduli)
{
    size_t id = get_global_id(0);
    ulong modulus = moduli[id] | 1, base = bases[id] % modulus, result = 1;
    for (uint e = exponents[id]; e != 0; e >>= 1) {
        if (e & 1)
            result = result * base % modulus;
        base = base * base % modulus;
    }
    out[id] = (uint)(result % modulus);
}

static long multiply(long a, long b)
{
    // 24 binary places.
    return mul_hi(a, b) << 40 | (long)((ulong)(a * b) >> 24);
}

// The Mandelbrot set in fixed-point numbers.
kernel void fixed_point(global uint *out, int width, int most)
{
    int x = get_global_id(0), y = get_global_id(1);
    long one = 1l << 24;
    long cr = (x * 3 * one) / width - 2 * one, ci = (y * 3 * one) / width - 3 * one / 2;
    long zr = 0, zi = 0;
    int count = 0;
    while (count < most) {
        long r2 = multiply(zr, zr), i2 = multiply(zi, zi);
        if (r2 + i2 > 4 * one)
            break;
        zi = 2 * multiply(zr, zi) + ci;
        zr = r2 - i2 + cr;
        count++;
    }
    out[y * width + x] = count;
}
