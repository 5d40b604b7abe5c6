// Filters on images in buffers.

// The median of 3 x 3 pixels; outside, the nearest pixel counts.
kernel void median(global uchar *out, global const uchar *in, int width, int height)
{
    int x = get_global_id(0), y = get_global_id(1);
    uchar v[9];
    int count = 0;
    for (int dy = -1; dy <= 1; dy++) {
        for (int dx = -1; dx <= 1; dx++) {
            uchar p = in[clamp(y + dy, 0, height - 1) * width + clamp(x + dx, 0, width - 1)];
            int i = count++;
            for (; i > 0 && v[i - 1] > p; i--)
                v[i] = v[i - 1];
            v[i] = p;
        }
    }
    out[y * width + x] = v[4];
}

// Edges after Sobel.
kernel void sobel(global uchar *out, global const uchar *in, int width, int height)
{
    int x = get_global_id(0), y = get_global_id(1);
    if (x >= width || y >= height)
        return;
    if (x == 0 || y == 0 || x == width - 1 || y == height - 1) {
        out[y * width + x] = 0;
        return;
    }
    global const uchar *p = in + y * width + x;
    int gx = p[1 - width] + 2 * p[1] + p[1 + width] - p[-1 - width] - 2 * p[-1] - p[-1 + width];
    int gy = p[width - 1] + 2 * p[width] + p[width + 1] - p[-width - 1] - 2 * p[-width] - p[1 - width];
    out[y * width + x] = (uchar)min((abs(gx) + abs(gy)) / 2, 255u);
}

// Smooths what is alike: weights fall with distance and with difference.
kernel void bilateral(global float *out, global const uchar *in, int width, int height, float space,
                      float tone)
{
    int x = get_global_id(0), y = get_global_id(1);
    float centre = in[y * width + x], sum = 0.0f, weights = 0.0f;
    for (int j = max(y - 2, 0); j <= min(y + 2, height - 1); j++) {
        for (int i = max(x - 2, 0); i <= min(x + 2, width - 1); i++) {
            float p = in[j * width + i], d = p - centre;
            float w = exp(-space * ((i - x) * (i - x) + (j - y) * (j - y)) - tone * d * d);
            sum += w * p;
            weights += w;
        }
    }
    out[y * width + x] = sum / weights;
}

// Turns an image about its middle; between pixels the values are interpolated.
kernel void rotation(global float *out, global const uchar4 *in, int width, int height, float cosine,
                     float sine)
{
    int x = get_global_id(0), y = get_global_id(1);
    float dx = x - 0.5f * width, dy = y - 0.5f * height;
    float sx = cosine * dx - sine * dy + 0.5f * width, sy = sine * dx + cosine * dy + 0.5f * height;
    float grey = 0.0f;
    if (sx >= 0.0f && sy >= 0.0f && sx < width - 1 && sy < height - 1) {
        int ix = (int)sx, iy = (int)sy;
        float fx = sx - ix, fy = sy - iy;
        float4 a = convert_float4(in[iy * width + ix]), b = convert_float4(in[iy * width + ix + 1]);
        float4 c = convert_float4(in[(iy + 1) * width + ix]), d = convert_float4(in[(iy + 1) * width + ix + 1]);
        float4 p = (a + (b - a) * fx) * (1.0f - fy) + (c + (d - c) * fx) * fy;
        grey = 0.299f * p.x + 0.587f * p.y + 0.114f * p.z;
    }
    out[y * width + x] = grey;
}
