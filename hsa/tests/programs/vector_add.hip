// Two vectors, one sum.
#include "check.h"

#include <vector>

__global__ void vector_add(const float *a, const float *b, float *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        c[i] = a[i] + b[i];
}

int main()
{
    const int n = 1 << 20;
    std::vector<float> a(n), b(n), c(n);
    for (int i = 0; i < n; i++) {
        a[i] = i;
        b[i] = 2 * i;
    }
    float *device_a, *device_b, *device_c;
    HIP(hipMalloc(&device_a, n * sizeof(float)));
    HIP(hipMalloc(&device_b, n * sizeof(float)));
    HIP(hipMalloc(&device_c, n * sizeof(float)));
    HIP(hipMemcpy(device_a, a.data(), n * sizeof(float), hipMemcpyHostToDevice));
    HIP(hipMemcpy(device_b, b.data(), n * sizeof(float), hipMemcpyHostToDevice));
    vector_add<<<blocks(n), 256>>>(device_a, device_b, device_c, n);
    HIP(hipGetLastError());
    HIP(hipMemcpy(c.data(), device_c, n * sizeof(float), hipMemcpyDeviceToHost));
    for (int i = 0; i < n; i++)
        EXPECT(c[i] == 3.0f * i);
    hipDeviceProp_t properties;
    HIP(hipGetDeviceProperties(&properties, 0));
    printf("%s\n", properties.gcnArchName);
    return verdict();
}
