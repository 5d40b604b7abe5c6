// Monte Carlo.

static uint next(uint *state)
{
    uint x = *state;
    x ^= x << 13;
    x ^= x >> 17;
    x ^= x << 5;
    return *state = x;
}

// Points of a square that lie in its circle.
kernel void circle(global uint *hits, int points)
{
    size_t id = get_global_id(0);
    uint state = (uint)id * 2654435761u + 1, count = 0;
    for (int i = 0; i < points; i++) {
        float x = (next(&state) >> 8) * 0x1p-24f, y = (next(&state) >> 8) * 0x1p-24f;
        if (x * x + y * y < 1.0f)
            count++;
    }
    hits[id] = count;
}

// Options on the mean price along a path.
kernel void paths(global float *payoffs, float price, float strike, float drift, float spread, int steps)
{
    size_t id = get_global_id(0);
    uint state = (uint)id * 2654435761u + 12345;
    float log_price = log(price), sum = 0.0f;
    for (int i = 0; i < steps; i++) {
        // The sum of four numbers for a normal one.
        float z = 0.0f;
        for (int k = 0; k < 4; k++)
            z += (next(&state) >> 8) * 0x1p-24f;
        log_price += drift + spread * (z - 2.0f) * 1.7320508f;
        sum += exp(log_price);
    }
    payoffs[id] = fmax(sum / steps - strike, 0.0f);
}

// Steps of a walk on a lattice until it leaves a square.
kernel void walks(global uint *out, int size, uint most)
{
    size_t id = get_global_id(0);
    uint state = (uint)id * 747796405u + 7, count = 0;
    int x = 0, y = 0;
    while (x > -size && x < size && y > -size && y < size && count < most) {
        switch (next(&state) >> 30) {
        case 0: x++; break;
        case 1: x--; break;
        case 2: y++; break;
        default: y--; break;
        }
        count++;
    }
    out[id] = count;
}
