// Complex Fourier transforms of 1024 points, one per workgroup: five passes of radix 4 after
// Stockham, exchanging through LDS.
#define ITEMS 256
#define POINTS 1024

// twiddles[k] = exp(-2 pi i k / POINTS)
kernel void setup_twiddles(global float2 *twiddles)
{
    size_t k = get_global_id(0);
    float angle = (float)k * (-2.0f / POINTS);
    twiddles[k] = (float2)(cospi(angle), sinpi(angle));
}

static float2 times(float2 a, float2 b)
{
    return (float2)(fma(a.x, b.x, -(a.y * b.y)), fma(a.x, b.y, a.y * b.x));
}

kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1)))
void fft1024(global float2 *out, global const float2 *in, global const float2 *twiddles)
{
    local float2 tile[POINTS];
    size_t base = get_group_id(0) * POINTS;
    size_t lid = get_local_id(0);
    uint j = (uint)lid;
    float2 v[4];
    #pragma unroll
    for (uint r = 0; r < 4; r++)
        v[r] = in[base + r * ITEMS + lid];
    #pragma unroll
    for (uint size = 1; size < POINTS; size *= 4) {
        uint place = j & (size - 1);
        #pragma unroll
        for (uint r = 1; r < 4; r++)
            if (size > 1)
                v[r] = times(v[r], twiddles[place * r * (ITEMS / size)]);
        float2 even0 = v[0] + v[2], even1 = v[0] - v[2];
        float2 odd0 = v[1] + v[3], odd1 = v[1] - v[3];
        odd1 = (float2)(odd1.y, -odd1.x);
        v[0] = even0 + odd0;
        v[1] = even1 + odd1;
        v[2] = even0 - odd0;
        v[3] = even1 - odd1;
        if (4 * size == POINTS)
            break;
        uint first = (j - place) * 4 + place;
        barrier(CLK_LOCAL_MEM_FENCE);
        #pragma unroll
        for (uint r = 0; r < 4; r++)
            tile[first + r * size] = v[r];
        barrier(CLK_LOCAL_MEM_FENCE);
        #pragma unroll
        for (uint r = 0; r < 4; r++)
            v[r] = tile[r * ITEMS + lid];
    }
    #pragma unroll
    for (uint r = 0; r < 4; r++)
        out[base + r * ITEMS + lid] = v[r];
}
