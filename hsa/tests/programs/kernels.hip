// Device variables, constants, managed variables, static and dynamic LDS.
#include "check.h"

__device__ int counter;
__device__ float table[64];
__constant__ int factors[4];
__managed__ int managed_counter = 5;

__global__ void use_variables(int *out)
{
    atomicAdd(&counter, 1);
    out[threadIdx.x] = (int)table[threadIdx.x] * factors[threadIdx.x & 3];
    if (threadIdx.x == 0)
        managed_counter += 1;
}

__global__ void reverse_blocks(int *data)
{
    __shared__ int block[256];
    int i = threadIdx.x;
    block[i] = data[blockIdx.x * 256 + i];
    __syncthreads();
    data[blockIdx.x * 256 + i] = block[255 - i];
}

__global__ void reverse(int *data, int n)
{
    extern __shared__ int all[];
    int i = threadIdx.x;
    all[i] = data[i];
    __syncthreads();
    data[i] = all[n - 1 - i];
}

static void variables()
{
    float numbers[64];
    int zero = 0, powers[4] = {1, 10, 100, 1000}, result[64], *out;
    for (int i = 0; i < 64; i++)
        numbers[i] = i;
    HIP(hipMemcpyToSymbol(HIP_SYMBOL(table), numbers, sizeof numbers));
    HIP(hipMemcpyToSymbol(HIP_SYMBOL(factors), powers, sizeof powers));
    HIP(hipMemcpyToSymbol(HIP_SYMBOL(counter), &zero, sizeof zero));
    HIP(hipMalloc(&out, sizeof result));
    use_variables<<<1, 64>>>(out);
    HIP(hipMemcpy(result, out, sizeof result, hipMemcpyDeviceToHost));
    for (int i = 0; i < 64; i++)
        EXPECT(result[i] == i * powers[i & 3]);
    int counted;
    HIP(hipMemcpyFromSymbol(&counted, HIP_SYMBOL(counter), sizeof counted));
    EXPECT(counted == 64);
    EXPECT(managed_counter == 6);
    size_t size;
    HIP(hipGetSymbolSize(&size, HIP_SYMBOL(table)));
    EXPECT(size == sizeof numbers);
    HIP(hipFree(out));
}

static void lds()
{
    int host[1024], back[1024], *data;
    for (int i = 0; i < 1024; i++)
        host[i] = i;
    HIP(hipMalloc(&data, sizeof host));
    HIP(hipMemcpy(data, host, sizeof host, hipMemcpyHostToDevice));
    reverse_blocks<<<4, 256>>>(data);
    HIP(hipMemcpy(back, data, sizeof back, hipMemcpyDeviceToHost));
    for (int i = 0; i < 1024; i++)
        EXPECT(back[i] == i / 256 * 256 + 255 - i % 256);
    HIP(hipMemcpy(data, host, sizeof host, hipMemcpyHostToDevice));
    reverse<<<1, 1024, sizeof host>>>(data, 1024);
    HIP(hipMemcpy(back, data, sizeof back, hipMemcpyDeviceToHost));
    for (int i = 0; i < 1024; i++)
        EXPECT(back[i] == 1023 - i);
    HIP(hipFree(data));
}

int main()
{
    variables();
    lds();
    return verdict();
}
