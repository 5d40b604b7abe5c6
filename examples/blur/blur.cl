// Filters over RGBA images of four bytes a pixel. Pixels outside repeat the edge.

static uint at(int x, int y, uint width, uint height)
{
    return clamp(y, 0, (int)height - 1) * width + clamp(x, 0, (int)width - 1);
}

// A binomial blur of five by five in two passes: the first keeps 16 bits a channel (16 times the
// value), the second adds up to 256 times the value and rounds.
kernel void blur_rows(global ushort4 *out, global const uchar4 *in, uint width, uint height)
{
    int x = (int)get_global_id(0), y = (int)get_global_id(1);
    if (x >= width || y >= height)
        return;
    ushort4 sum = convert_ushort4(in[at(x - 2, y, width, height)]) +
                  convert_ushort4(in[at(x + 2, y, width, height)]);
    sum += (ushort)4 * (convert_ushort4(in[at(x - 1, y, width, height)]) +
                        convert_ushort4(in[at(x + 1, y, width, height)]));
    sum += (ushort)6 * convert_ushort4(in[at(x, y, width, height)]);
    out[(size_t)y * width + x] = sum;
}

kernel void blur_columns(global uchar4 *out, global const ushort4 *in, uint width, uint height)
{
    int x = (int)get_global_id(0), y = (int)get_global_id(1);
    if (x >= width || y >= height)
        return;
    uint4 sum = convert_uint4(in[at(x, y - 2, width, height)]) +
                convert_uint4(in[at(x, y + 2, width, height)]);
    sum += 4u * (convert_uint4(in[at(x, y - 1, width, height)]) +
                 convert_uint4(in[at(x, y + 1, width, height)]));
    sum += 6u * convert_uint4(in[at(x, y, width, height)]);
    out[(size_t)y * width + x] = convert_uchar4((sum + 128u) >> 8);
}

// Unsharp mask in float: twice the picture less its box average, saturated, rounded to even.
// Sums of bytes are exact in float, so only the multiplication by 1/9 rounds before the end.
kernel void sharpen(global uchar4 *out, global const uchar4 *in, uint width, uint height)
{
    int x = (int)get_global_id(0), y = (int)get_global_id(1);
    if (x >= width || y >= height)
        return;
    float4 sum = 0.0f;
    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++)
            sum += convert_float4(in[at(x + dx, y + dy, width, height)]);
    float4 centre = convert_float4(in[at(x, y, width, height)]);
    float4 value = 2.0f * centre - sum * (1.0f / 9.0f);
    out[(size_t)y * width + x] = convert_uchar4_sat_rte(value);
}
