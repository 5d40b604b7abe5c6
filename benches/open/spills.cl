// More values at a time than registers: the attribute leaves 24 to 64 of them on AMD's GPUs, and has
// no meaning elsewhere.

// Products of 4 x 4 matrices, one per work-item, with 24 registers.
kernel __attribute__((amdgpu_num_vgpr(24)))
void product_24(global float *c, global const float *a, global const float *b)
{
    size_t base = get_global_id(0) * 16;
    float x[16], y[16], z[16];
    #pragma unroll
    for (int i = 0; i < 16; i++) {
        x[i] = a[base + i];
        y[i] = b[base + i];
        z[i] = 0.0f;
    }
    for (int turn = 0; turn < 4; turn++) {
        #pragma unroll
        for (int i = 0; i < 4; i++)
            #pragma unroll
            for (int j = 0; j < 4; j++)
                #pragma unroll
                for (int k = 0; k < 4; k++)
                    z[4 * i + j] += x[4 * i + k] * y[4 * k + j];
        #pragma unroll
        for (int i = 0; i < 16; i++)
            x[i] = 0.5f * z[i];
    }
    #pragma unroll
    for (int i = 0; i < 16; i++)
        c[base + i] = z[i];
}

// Systems of six linear equations by elimination without pivots, with 32 registers.
kernel __attribute__((amdgpu_num_vgpr(32)))
void solve_32(global float *solutions, global const float *matrices, global const float *sides)
{
    size_t id = get_global_id(0);
    float m[6][7];
    #pragma unroll
    for (int i = 0; i < 6; i++) {
        #pragma unroll
        for (int j = 0; j < 6; j++)
            m[i][j] = matrices[id * 36 + i * 6 + j] + (i == j ? 8.0f : 0.0f);
        m[i][6] = sides[id * 6 + i];
    }
    #pragma unroll
    for (int k = 0; k < 6; k++) {
        float inverse = 1.0f / m[k][k];
        #pragma unroll
        for (int i = 0; i < 6; i++) {
            if (i == k)
                continue;
            float factor = m[i][k] * inverse;
            #pragma unroll
            for (int j = k; j < 7; j++)
                m[i][j] -= factor * m[k][j];
        }
    }
    #pragma unroll
    for (int i = 0; i < 6; i++)
        solutions[id * 6 + i] = m[i][6] / m[i][i];
}

#define SPECIES 10

static void rates(float *out, const float *y, float k)
{
    #pragma unroll
    for (int i = 0; i < SPECIES; i++) {
        float before = y[(i + SPECIES - 1) % SPECIES], after = y[(i + 1) % SPECIES];
        out[i] = k * before * before - y[i] * after - 0.1f * y[i] + 0.05f;
    }
}

// Ten substances that react in a ring, in steps of Runge and Kutta, with 48 registers.
kernel __attribute__((amdgpu_num_vgpr(48)))
void reactions_48(global float *amounts, float step, int steps)
{
    size_t id = get_global_id(0), n = get_global_size(0);
    float y[SPECIES], a[SPECIES], b[SPECIES], c[SPECIES], d[SPECIES], t[SPECIES];
    #pragma unroll
    for (int i = 0; i < SPECIES; i++)
        y[i] = amounts[i * n + id];
    for (int s = 0; s < steps; s++) {
        rates(a, y, 0.5f);
        #pragma unroll
        for (int i = 0; i < SPECIES; i++)
            t[i] = y[i] + 0.5f * step * a[i];
        rates(b, t, 0.5f);
        #pragma unroll
        for (int i = 0; i < SPECIES; i++)
            t[i] = y[i] + 0.5f * step * b[i];
        rates(c, t, 0.5f);
        #pragma unroll
        for (int i = 0; i < SPECIES; i++)
            t[i] = y[i] + step * c[i];
        rates(d, t, 0.5f);
        #pragma unroll
        for (int i = 0; i < SPECIES; i++)
            y[i] += step * (1.0f / 6.0f) * (a[i] + 2.0f * b[i] + 2.0f * c[i] + d[i]);
    }
    #pragma unroll
    for (int i = 0; i < SPECIES; i++)
        amounts[i * n + id] = y[i];
}

static void butterflies(int *v, int stride)
{
    int s[4], d[4];
    #pragma unroll
    for (int i = 0; i < 4; i++) {
        s[i] = v[i * stride] + v[(7 - i) * stride];
        d[i] = v[i * stride] - v[(7 - i) * stride];
    }
    v[0] = s[0] + s[1] + s[2] + s[3];
    v[4 * stride] = s[0] - s[1] - s[2] + s[3];
    v[2 * stride] = ((s[0] - s[3]) * 1338 + (s[1] - s[2]) * 554) >> 10;
    v[6 * stride] = ((s[0] - s[3]) * 554 - (s[1] - s[2]) * 1338) >> 10;
    v[stride] = (d[0] * 1420 + d[1] * 1204 + d[2] * 805 + d[3] * 283) >> 10;
    v[3 * stride] = (d[0] * 1204 - d[1] * 283 - d[2] * 1420 - d[3] * 805) >> 10;
    v[5 * stride] = (d[0] * 805 - d[1] * 1420 + d[2] * 283 + d[3] * 1204) >> 10;
    v[7 * stride] = (d[0] * 283 - d[1] * 805 + d[2] * 1204 - d[3] * 1420) >> 10;
}

// The cosine transform of blocks of 8 x 8 pixels in integers, a block per work-item, with 64 registers.
kernel __attribute__((amdgpu_num_vgpr(64)))
void dct_64(global short *out, global const uchar *in, int blocks_across)
{
    int id = get_global_id(0);
    int width = blocks_across * 8;
    int corner = id / blocks_across * 8 * width + id % blocks_across * 8;
    int v[64];
    #pragma unroll
    for (int i = 0; i < 64; i++)
        v[i] = in[corner + (i >> 3) * width + (i & 7)] - 128;
    #pragma unroll
    for (int i = 0; i < 8; i++)
        butterflies(v + 8 * i, 1);
    #pragma unroll
    for (int i = 0; i < 8; i++)
        butterflies(v + i, 8);
    #pragma unroll
    for (int i = 0; i < 64; i++)
        out[corner + (i >> 3) * width + (i & 7)] = (short)(v[i] >> 3);
}
