// Images of every shape through OpenCL's functions, and what has no function there through intrinsics.

#pragma OPENCL EXTENSION cl_khr_3d_image_writes : enable

// ---- loads and stores at integer coordinates

kernel void copy_2d(read_only image2d_t from, write_only image2d_t to) {
    int2 at = (int2)(get_global_id(0), get_global_id(1));
    if (at.x < get_image_width(to) && at.y < get_image_height(to))
        write_imagef(to, at, read_imagef(from, at));
}

kernel void invert_2d(read_write image2d_t image) {
    int2 at = (int2)(get_global_id(0), get_global_id(1));
    if (at.x < get_image_width(image) && at.y < get_image_height(image))
        write_imageui(image, at, 255 - read_imageui(image, at));
}

kernel void add_2d(read_only image2d_t a, read_only image2d_t b, write_only image2d_t to) {
    int2 at = (int2)(get_global_id(0), get_global_id(1));
    write_imagei(to, at, read_imagei(a, at) + read_imagei(b, at));
}

kernel void copy_1d(read_only image1d_t from, write_only image1d_t to) {
    int at = get_global_id(0);
    write_imagef(to, get_image_width(to) - 1 - at, read_imagef(from, at));
}

kernel void copy_3d(read_only image3d_t from, write_only image3d_t to) {
    int4 at = (int4)(get_global_id(0), get_global_id(1), get_global_id(2), 0);
    write_imageui(to, at, read_imageui(from, at).wzyx);
}

kernel void copy_layers(read_only image2d_array_t from, write_only image2d_array_t to) {
    int4 at = (int4)(get_global_id(0), get_global_id(1), get_global_id(2), 0);
    int4 back = at;
    back.z = get_image_array_size(to) - 1 - at.z;
    write_imagef(to, back, read_imagef(from, at));
}

kernel void copy_rows(read_only image1d_array_t from, write_only image1d_array_t to) {
    int2 at = (int2)(get_global_id(0), get_global_id(1));
    write_imagei(to, at, read_imagei(from, at) * 2);
}

kernel void sizes(read_only image1d_t a, read_only image2d_t b, read_only image3d_t c, read_only image1d_array_t d, read_only image2d_array_t e, global int *out) {
    out[0] = get_image_width(a);
    out[1] = get_image_width(b);
    out[2] = get_image_height(b);
    out[3] = get_image_width(c);
    out[4] = get_image_height(c);
    out[5] = get_image_depth(c);
    out[6] = get_image_width(d);
    out[7] = get_image_array_size(d);
    out[8] = get_image_width(e);
    out[9] = get_image_height(e);
    out[10] = get_image_array_size(e);
}

// ---- through samplers

kernel void sample_1d(read_only image1d_t image, sampler_t sampler, global const float *at, global float4 *out) {
    size_t i = get_global_id(0);
    out[i] = read_imagef(image, sampler, at[i]);
}

kernel void sample_2d(read_only image2d_t image, sampler_t sampler, global const float2 *at, global float4 *out) {
    size_t i = get_global_id(0);
    out[i] = read_imagef(image, sampler, at[i]);
}

kernel void sample_3d(read_only image3d_t image, sampler_t sampler, global const float4 *at, global float4 *out) {
    size_t i = get_global_id(0);
    out[i] = read_imagef(image, sampler, at[i]);
}

kernel void sample_layers(read_only image2d_array_t image, sampler_t sampler, global const float4 *at, global float4 *out) {
    size_t i = get_global_id(0);
    out[i] = read_imagef(image, sampler, at[i]);
}

kernel void sample_rows(read_only image1d_array_t image, sampler_t sampler, global const float2 *at, global float4 *out) {
    size_t i = get_global_id(0);
    out[i] = read_imagef(image, sampler, at[i]);
}

// Integer coordinates, integer texels.
kernel void pick_2d(read_only image2d_t image, sampler_t sampler, global const int2 *at, global uint4 *out) {
    size_t i = get_global_id(0);
    out[i] = read_imageui(image, sampler, at[i]);
}

// A sampler of the program's own.
constant sampler_t edge = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;

kernel void box_blur(read_only image2d_t from, write_only image2d_t to) {
    int2 at = (int2)(get_global_id(0), get_global_id(1));
    float4 sum = 0;
    for (int y = -1; y <= 1; y++)
        for (int x = -1; x <= 1; x++)
            sum += read_imagef(from, edge, at + (int2)(x, y));
    write_imagef(to, at, sum / 8);
}

// ---- intrinsics

typedef int int8v __attribute__((ext_vector_type(8)));
#define WORDS(image) (*__builtin_astype(image, constant int8v *))

extern int atomic_add_2d(int, int, int, int8v, int, int) __asm("llvm.amdgcn.image.atomic.add.2d.i32.i32");
extern int atomic_umax_2d(int, int, int, int8v, int, int) __asm("llvm.amdgcn.image.atomic.umax.2d.i32.i32");
extern int atomic_cmpswap_1d(int, int, int, int8v, int, int) __asm("llvm.amdgcn.image.atomic.cmpswap.1d.i32.i32");
extern __attribute__((const)) float4 resinfo_2d(int, int, int8v, int, int) __asm("llvm.amdgcn.image.getresinfo.2d.v4f32.i32");
extern __attribute__((pure)) float4 __ockl_image_gather4g_2D(constant uint *, constant uint *, float2);

// Counts bytes into an image of 16 x 16 bins.
kernel void histogram(read_write image2d_t bins, global const uchar *data, uint count) {
    for (uint i = get_global_id(0); i < count; i += get_global_size(0))
        atomic_add_2d(1, data[i] & 15, data[i] >> 4, WORDS(bins), 0, 0);
}

// The old values of additions and maxima.
kernel void returning(read_write image2d_t image, global int *old) {
    size_t i = get_global_id(0);
    old[i] = atomic_add_2d(i, i & 3, i >> 2 & 3, WORDS(image), 0, 0);
    atomic_umax_2d(1000 + i, 4, 0, WORDS(image), 0, 0);
}

// Every work-item puts its number where 0 is, each in a texel of its own choice.
kernel void claim(read_write image1d_t image, global int *old) {
    int i = get_global_id(0);
    old[i] = atomic_cmpswap_1d(i + 1, 0, i / 3, WORDS(image), 0, 0);
}

kernel void query(read_only image2d_t image, global int4 *out) {
    out[get_global_id(0)] = as_int4(resinfo_2d(15, get_global_id(0), WORDS(image), 0, 0));
}

kernel void gather(read_only image2d_t image, sampler_t sampler, global const float2 *at, global float4 *out) {
    size_t i = get_global_id(0);
    out[i] = __ockl_image_gather4g_2D(__builtin_astype(image, constant uint *), __builtin_astype(sampler, constant uint *), at[i]);
}

// CLK_ codes of the channels.
kernel void channels(read_only image2d_t image, global int *out) {
    out[0] = get_image_channel_data_type(image);
    out[1] = get_image_channel_order(image);
}
