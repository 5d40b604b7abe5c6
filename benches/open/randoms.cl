// Random numbers.

static uint2 single(uint low, uint by)
{
    return (uint2)(low * by, mul_hi(low, by));
}

// Four numbers of Philox 4x32-10 from each work-item's counter.
kernel void philox(global uint4 *out, uint key0, uint key1)
{
    uint id = (uint)get_global_id(0);
    uint4 c = (uint4)(id, 0, 0, 0);
    for (int round = 0; round < 10; round++) {
        uint2 a = single(c.x, 0xd2511f53u), b = single(c.z, 0xcd9e8d57u);
        c = (uint4)(b.y ^ c.y ^ key0, b.x, a.y ^ c.w ^ key1, a.x);
        key0 += 0x9e3779b9u;
        key1 += 0xbb67ae85u;
    }
    out[id] = c;
}

// The Mersenne twister with its 624 words of state in private memory; the sum of some numbers.
kernel void mersenne(global uint *out, int count)
{
    uint id = (uint)get_global_id(0);
    uint state[624];
    state[0] = id + 1;
    for (uint i = 1; i < 624; i++)
        state[i] = 1812433253u * (state[i - 1] ^ state[i - 1] >> 30) + i;
    uint sum = 0;
    int at = 0;
    for (int k = 0; k < count; k++) {
        int next = at == 623 ? 0 : at + 1, far = at >= 227 ? at - 227 : at + 397;
        uint y = (state[at] & 0x80000000u) | (state[next] & 0x7fffffffu);
        y = state[far] ^ y >> 1 ^ (y & 1 ? 0x9908b0dfu : 0);
        state[at] = y;
        at = next;
        y ^= y >> 11;
        y ^= y << 7 & 0x9d2c5680u;
        y ^= y << 15 & 0xefc60000u;
        sum += y ^ y >> 18;
    }
    out[id] = sum;
}

// Normal numbers after Box and Muller from a linear congruence, their mean and their spread.
kernel void normals(global float2 *out, uint seed, int pairs)
{
    size_t id = get_global_id(0);
    uint s = seed + (uint)id * 747796405u;
    float sum = 0.0f, squares = 0.0f;
    for (int i = 0; i < pairs; i++) {
        s = s * 1664525u + 1013904223u;
        float u = ((s >> 8) + 1) * 0x1p-24f;
        s = s * 1664525u + 1013904223u;
        float v = (s >> 8) * 0x1p-24f;
        float r = sqrt(-2.0f * log(u)), a = r * cospi(2.0f * v), b = r * sinpi(2.0f * v);
        sum += a + b;
        squares += a * a + b * b;
    }
    out[id] = (float2)(sum / (2 * pairs), squares / (2 * pairs));
}

// Half a sweep of Metropolis over the spins of one colour of a checkerboard.
kernel void ising(global char *spins, int width, int height, uint seed, int colour)
{
    int y = get_global_id(1), x = 2 * get_global_id(0) + ((y + colour) & 1);
    int left = x == 0 ? width - 1 : x - 1, right = x == width - 1 ? 0 : x + 1;
    int above = y == 0 ? height - 1 : y - 1, below = y == height - 1 ? 0 : y + 1;
    int spin = spins[y * width + x];
    int field = spins[y * width + left] + spins[y * width + right] + spins[above * width + x] +
                spins[below * width + x];
    uint h = (uint)(y * width + x) * 2654435761u + seed;
    h = (h ^ h >> 15) * 2246822519u;
    h = (h ^ h >> 13) * 3266489917u;
    h ^= h >> 16;
    int gain = spin * field;
    // exp(-2 gain / T) of a temperature of 2.27.
    if (gain <= 0 || h < (gain == 2 ? 737000000u : 126500000u))
        spins[y * width + x] = (char)-spin;
}

kernel void setup_spins(global char *spins)
{
    size_t id = get_global_id(0);
    spins[id] = spins[id] & 1 ? 1 : -1;
}
