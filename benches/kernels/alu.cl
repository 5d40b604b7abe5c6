// Arithmetic alone: six vector instructions, and three scalar ones for the loop, per iteration.
kernel void alu(global uint *out, float a, float b, uint iterations)
{
    size_t i = get_global_id(0);
    uint n = (uint)i;
    float x = (float)n, y = 1.0f;
    #pragma nounroll
    for (uint k = 0; k < iterations; k++) {
        x = fma(x, a, b);
        n = (n << 5) + n;
        n ^= as_uint(x);
        y = y * a;
        y = y + x;
        n = rotate(n, 7u);
    }
    out[i] = n ^ as_uint(y);
}
