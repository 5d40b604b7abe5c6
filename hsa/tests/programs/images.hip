// Textures and surfaces: arrays of one to three dimensions, layers, filters, edges, pitched and linear memory.
#include "check.h"

#include <cstring>
#include <vector>

static const int W = 37, H = 21, D = 5;

__global__ void read_2d(hipTextureObject_t texture, float *out, float dx, float dy)
{
    int x = threadIdx.x, y = blockIdx.x;
    out[y * W + x] = tex2D<float>(texture, x + dx, y + dy);
}

__global__ void read_bytes(hipTextureObject_t texture, float4 *out)
{
    int x = threadIdx.x, y = blockIdx.x;
    out[y * W + x] = tex2D<float4>(texture, x + 0.5f, y + 0.5f);
}

__global__ void read_3d(hipTextureObject_t texture, int *out)
{
    int x = threadIdx.x, y = blockIdx.x, z = blockIdx.y;
    out[(z * H + y) * W + x] = tex3D<int>(texture, x + 0.5f, y + 0.5f, z + 0.5f);
}

__global__ void read_linear(hipTextureObject_t texture, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = tex1Dfetch<int>(texture, i);
}

__global__ void write_surface(hipSurfaceObject_t surface)
{
    int x = threadIdx.x, y = blockIdx.x;
    float value;
    surf2Dread(&value, surface, x * int(sizeof(float)), y);
    surf2Dwrite(value * 2 + x, surface, x * int(sizeof(float)), y);
}

static hipTextureObject_t texture_of(const hipResourceDesc &resource, hipTextureFilterMode filter,
                                     hipTextureAddressMode outside, hipTextureReadMode read)
{
    hipTextureDesc description = {};
    for (auto &mode : description.addressMode)
        mode = outside;
    description.filterMode = filter;
    description.readMode = read;
    hipTextureObject_t object;
    HIP(hipCreateTextureObject(&object, &resource, &description, nullptr));
    return object;
}

template <class T> static hipArray_t array_of(const std::vector<T> &texels)
{
    hipArray_t array;
    hipChannelFormatDesc format = hipCreateChannelDesc<T>();
    HIP(hipMallocArray(&array, &format, W, H, hipArrayDefault));
    HIP(hipMemcpy2DToArray(array, 0, 0, texels.data(), W * sizeof(T), W * sizeof(T), H, hipMemcpyHostToDevice));
    return array;
}

static hipResourceDesc resource_of(hipArray_t array)
{
    hipResourceDesc resource = {};
    resource.resType = hipResourceTypeArray;
    resource.res.array.array = array;
    return resource;
}

template <class T> struct Device {
    T *data;
    size_t count;
    explicit Device(size_t n) : count(n) { HIP(hipMalloc(&data, n * sizeof(T))); }
    ~Device() { HIP(hipFree(data)); }
    std::vector<T> host() const
    {
        std::vector<T> out(count);
        HIP(hipMemcpy(out.data(), data, count * sizeof(T), hipMemcpyDeviceToHost));
        return out;
    }
};

static float at(const std::vector<float> &texels, int x, int y)
{
    return texels[std::min(std::max(y, 0), H - 1) * W + std::min(std::max(x, 0), W - 1)];
}

static void two_dimensions()
{
    std::vector<float> texels(W * H);
    for (int i = 0; i < W * H; i++)
        texels[i] = float(i * 17 % 64);
    hipArray_t array = array_of(texels);
    Device<float> out(W * H);
    hipTextureObject_t nearest =
        texture_of(resource_of(array), hipFilterModePoint, hipAddressModeClamp, hipReadModeElementType);
    read_2d<<<H, W>>>(nearest, out.data, -2.5f, 3.5f);
    std::vector<float> result = out.host();
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++)
            EXPECT(result[y * W + x] == at(texels, x - 3, y + 3));
    hipTextureObject_t linear =
        texture_of(resource_of(array), hipFilterModeLinear, hipAddressModeClamp, hipReadModeElementType);
    read_2d<<<H, W>>>(linear, out.data, 1.0f, 0.75f);
    result = out.host();
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++) {
            float above = (at(texels, x, y) + at(texels, x + 1, y)) / 2;
            float below = (at(texels, x, y + 1) + at(texels, x + 1, y + 1)) / 2;
            EXPECT(result[y * W + x] == above * 0.75f + below * 0.25f);
        }
    std::vector<float> back(W * H);
    HIP(hipMemcpy2DFromArray(back.data(), W * 4, array, 0, 0, W * 4, H, hipMemcpyDeviceToHost));
    EXPECT(back == texels);
    HIP(hipDestroyTextureObject(nearest));
    HIP(hipDestroyTextureObject(linear));
    HIP(hipFreeArray(array));
}

static void bytes_as_floats()
{
    std::vector<uchar4> texels(W * H);
    for (int i = 0; i < W * H; i++)
        texels[i] = make_uchar4(i % 256, i * 3 % 256, i * 5 % 256, 255 - i % 256);
    uchar4 *pitched;
    size_t pitch;
    HIP(hipMallocPitch((void **)&pitched, &pitch, W * sizeof(uchar4), H));
    HIP(hipMemcpy2D(pitched, pitch, texels.data(), W * 4, W * 4, H, hipMemcpyHostToDevice));
    hipResourceDesc resource = {};
    resource.resType = hipResourceTypePitch2D;
    resource.res.pitch2D.devPtr = pitched;
    // The header's own format of uchar4 is signed.
    resource.res.pitch2D.desc = hipCreateChannelDesc(8, 8, 8, 8, hipChannelFormatKindUnsigned);
    resource.res.pitch2D.width = W;
    resource.res.pitch2D.height = H;
    resource.res.pitch2D.pitchInBytes = pitch;
    hipTextureObject_t object =
        texture_of(resource, hipFilterModePoint, hipAddressModeClamp, hipReadModeNormalizedFloat);
    Device<float4> out(W * H);
    read_bytes<<<H, W>>>(object, out.data);
    std::vector<float4> result = out.host();
    for (int i = 0; i < W * H; i++) {
        EXPECT(result[i].x == float(texels[i].x) / 255 && result[i].y == float(texels[i].y) / 255);
        EXPECT(result[i].z == float(texels[i].z) / 255 && result[i].w == float(texels[i].w) / 255);
    }
    HIP(hipDestroyTextureObject(object));
    HIP(hipFree(pitched));
}

static void three_dimensions()
{
    std::vector<int> texels(W * H * D);
    for (int i = 0; i < W * H * D; i++)
        texels[i] = i * 2654435761u;
    hipArray_t array;
    hipChannelFormatDesc format = hipCreateChannelDesc<int>();
    HIP(hipMalloc3DArray(&array, &format, make_hipExtent(W, H, D), 0));
    hipMemcpy3DParms copy = {};
    copy.srcPtr = make_hipPitchedPtr(texels.data(), W * sizeof(int), W, H);
    copy.dstArray = array;
    copy.extent = make_hipExtent(W, H, D);
    copy.kind = hipMemcpyHostToDevice;
    HIP(hipMemcpy3D(&copy));
    hipTextureObject_t object =
        texture_of(resource_of(array), hipFilterModePoint, hipAddressModeClamp, hipReadModeElementType);
    Device<int> out(W * H * D);
    read_3d<<<dim3(H, D), W>>>(object, out.data);
    EXPECT(out.host() == texels);
    HIP(hipDestroyTextureObject(object));
    HIP(hipFreeArray(array));
}

static void linear_memory()
{
    const int n = 100000;
    std::vector<int> host(n);
    for (int i = 0; i < n; i++)
        host[i] = i * 31;
    Device<int> data(n), out(n);
    HIP(hipMemcpy(data.data, host.data(), n * sizeof(int), hipMemcpyHostToDevice));
    hipResourceDesc resource = {};
    resource.resType = hipResourceTypeLinear;
    resource.res.linear.devPtr = data.data;
    resource.res.linear.desc = hipCreateChannelDesc<int>();
    resource.res.linear.sizeInBytes = n * sizeof(int);
    hipTextureObject_t object =
        texture_of(resource, hipFilterModePoint, hipAddressModeClamp, hipReadModeElementType);
    read_linear<<<blocks(n), 256>>>(object, out.data, n);
    EXPECT(out.host() == host);
    HIP(hipDestroyTextureObject(object));
}

static void surfaces()
{
    std::vector<float> texels(W * H), back(W * H);
    for (int i = 0; i < W * H; i++)
        texels[i] = float(i);
    hipArray_t array = array_of(texels);
    hipResourceDesc resource = resource_of(array);
    hipSurfaceObject_t surface;
    HIP(hipCreateSurfaceObject(&surface, &resource));
    write_surface<<<H, W>>>(surface);
    HIP(hipMemcpy2DFromArray(back.data(), W * 4, array, 0, 0, W * 4, H, hipMemcpyDeviceToHost));
    for (int i = 0; i < W * H; i++)
        EXPECT(back[i] == float(i * 2 + i % W));
    HIP(hipDestroySurfaceObject(surface));
    HIP(hipFreeArray(array));
}

int main()
{
    two_dimensions();
    bytes_as_floats();
    three_dimensions();
    linear_memory();
    surfaces();
    return verdict();
}
