// Convolutions.

// A filter of 63 taps over a signal.
kernel void taps(global float *out, global const float *in, constant float *filter, int n)
{
    int id = get_global_id(0);
    float sum = 0.0f;
    for (int k = 0; k < 63; k++) {
        int at = id + k - 31;
        if (at >= 0 && at < n)
            sum += filter[k] * in[at];
    }
    out[id] = sum;
}

// A layer of a network: 3 x 3 over all channels, zeros outside, negative results to zero.
kernel void layer(global float *out, global const float *in, global const float *weights,
                  global const float *bias, int width, int height, int channels)
{
    int x = get_global_id(0), y = get_global_id(1), o = get_global_id(2);
    float sum = bias[o];
    for (int c = 0; c < channels; c++) {
        for (int j = 0; j < 3; j++) {
            for (int i = 0; i < 3; i++) {
                int sx = x + i - 1, sy = y + j - 1;
                if (sx >= 0 && sx < width && sy >= 0 && sy < height)
                    sum += in[(c * height + sy) * width + sx] * weights[((o * channels + c) * 3 + j) * 3 + i];
            }
        }
    }
    out[(o * height + y) * width + x] = fmax(sum, 0.0f);
}

// The greatest of 3 x 3 numbers with steps of two, and where it was.
kernel void pool(global float *out, global int *where, global const float *in, int width, int height)
{
    int x = get_global_id(0), y = get_global_id(1), c = get_global_id(2);
    int across = get_global_size(0), down = get_global_size(1);
    float best = -INFINITY;
    int place = -1;
    for (int j = 2 * y; j < min(2 * y + 3, height); j++) {
        for (int i = 2 * x; i < min(2 * x + 3, width); i++) {
            float v = in[(c * height + j) * width + i];
            if (v > best) {
                best = v;
                place = j * width + i;
            }
        }
    }
    out[(c * down + y) * across + x] = best;
    where[(c * down + y) * across + x] = place;
}
