// Numbers of 16 bits.

// Rows of halves to floats, scaled by their largest magnitude, and back.
kernel void half_rows(global half *out, global const half *in, int length)
{
    size_t base = get_global_id(0) * length;
    float most = 0.0f;
    for (int i = 0; i < length; i++)
        most = fmax(most, fabs(vload_half(base + i, in)));
    float scale = most > 0.0f ? 1.0f / most : 0.0f;
    for (int i = 0; i < length; i++)
        vstore_half(vload_half(base + i, in) * scale, base + i, out);
}

#ifdef cl_khr_fp16
#pragma OPENCL EXTENSION cl_khr_fp16 : enable

// An image blurred by a cross of five points; the border keeps its values.
kernel void half_cross(global half *out, global const half *in, int width, int height)
{
    int x = get_global_id(0), y = get_global_id(1);
    int at = y * width + x;
    half c = in[at];
    if (x > 0 && y > 0 && x < width - 1 && y < height - 1) {
        half sum = in[at - 1] + in[at + 1] + in[at - width] + in[at + width];
        c = c * (half)0.5f + sum * (half)0.125f;
    }
    out[at] = c;
}

// A layer of a network: weights times inputs and a bias, negative results to zero.
kernel void half_layer(global half *out, global const half *in, global const half *weights,
                       global const half *bias, int inputs, int outputs)
{
    int o = get_global_id(0), sample = get_global_id(1);
    half sum = bias[o];
    for (int i = 0; i < inputs; i++)
        sum += in[sample * inputs + i] * weights[i * outputs + o];
    out[sample * outputs + o] = sum > (half)0.0f ? sum : (half)0.0f;
}
#endif
