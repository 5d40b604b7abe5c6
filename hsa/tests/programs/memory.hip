// Every kind of memory, fills and copies.
#include "check.h"

#include <cstring>
#include <vector>

static const int N = 10000;
static const size_t BYTES = N * sizeof(int);

static void device_memory()
{
    std::vector<int> host(N), back(N);
    for (int i = 0; i < N; i++)
        host[i] = i * 3;
    int *data, *copy;
    HIP(hipMalloc(&data, BYTES));
    HIP(hipMalloc(&copy, BYTES));
    HIP(hipMemcpy(data, host.data(), BYTES, hipMemcpyHostToDevice));
    add_one<<<blocks(N), 256>>>(data, N);
    HIP(hipMemcpy(copy, data, BYTES, hipMemcpyDeviceToDevice));
    HIP(hipMemcpy(back.data(), copy, BYTES, hipMemcpyDeviceToHost));
    for (int i = 0; i < N; i++)
        EXPECT(back[i] == i * 3 + 1);
    HIP(hipMemset(data, 0x5a, BYTES - 4));
    HIP(hipMemcpy(back.data(), data, BYTES, hipMemcpyDeviceToHost));
    for (int i = 0; i < N - 1; i++)
        EXPECT(back[i] == 0x5a5a5a5a);
    EXPECT(back[N - 1] == (N - 1) * 3 + 1);
    HIP(hipMemsetD32((hipDeviceptr_t)data, 0x1234567, N));
    HIP(hipMemcpy(back.data(), data, BYTES, hipMemcpyDeviceToHost));
    for (int i = 0; i < N; i++)
        EXPECT(back[i] == 0x1234567);

    hipPointerAttribute_t attributes;
    HIP(hipPointerGetAttributes(&attributes, data));
    EXPECT(attributes.memoryType == hipMemoryTypeDevice);
    size_t free_bytes, all;
    HIP(hipMemGetInfo(&free_bytes, &all));
    EXPECT(free_bytes > 0 && free_bytes <= all);
    HIP(hipFree(data));
    HIP(hipFree(copy));
    void *large;
    EXPECT(hipMalloc(&large, size_t(1) << 44) == hipErrorOutOfMemory);
    (void)hipGetLastError();
}

static void large_copies()
{
    const size_t n = 5 << 20;
    std::vector<int> host(n), back(n);
    for (size_t i = 0; i < n; i++)
        host[i] = int(i * 2654435761u);
    int *data;
    HIP(hipMalloc(&data, n * sizeof(int)));
    HIP(hipMemcpy(data, host.data(), n * sizeof(int), hipMemcpyHostToDevice));
    HIP(hipMemcpy(back.data(), data, n * sizeof(int), hipMemcpyDeviceToHost));
    EXPECT(host == back);
    HIP(hipFree(data));
}

static void shared_memory()
{
    int *managed, *pinned, *seen;
    HIP(hipMallocManaged(&managed, BYTES));
    HIP(hipHostMalloc(&pinned, BYTES, 0));
    for (int i = 0; i < N; i++) {
        managed[i] = i;
        pinned[i] = -i;
    }
    HIP(hipHostGetDevicePointer((void **)&seen, pinned, 0));
    add_one<<<blocks(N), 256>>>(managed, N);
    add_one<<<blocks(N), 256>>>(seen, N);
    HIP(hipDeviceSynchronize());
    for (int i = 0; i < N; i++)
        EXPECT(managed[i] == i + 1 && pinned[i] == -i + 1);
    HIP(hipFree(managed));
    HIP(hipHostFree(pinned));
}

static void registered_memory()
{
    std::vector<int> host(N + 100, 7);
    int *seen;
    HIP(hipHostRegister(host.data(), BYTES, 0));
    HIP(hipHostGetDevicePointer((void **)&seen, host.data(), 0));
    add_one<<<blocks(N), 256>>>(seen, N);
    HIP(hipDeviceSynchronize());
    for (int i = 0; i < N; i++)
        EXPECT(host[i] == 8);
    EXPECT(host[N] == 7);
    HIP(hipHostUnregister(host.data()));
}

static void two_dimensions()
{
    const size_t width = 400, rows = 50;
    std::vector<int> host(width / 4 * rows), back(host.size());
    for (size_t i = 0; i < host.size(); i++)
        host[i] = i * 7;
    char *a, *b;
    size_t pitch;
    HIP(hipMallocPitch((void **)&a, &pitch, width, rows));
    HIP(hipMallocPitch((void **)&b, &pitch, width, rows));
    HIP(hipMemcpy2D(a, pitch, host.data(), width, width, rows, hipMemcpyHostToDevice));
    HIP(hipMemcpy2D(b, pitch, a, pitch, width, rows, hipMemcpyDeviceToDevice));
    HIP(hipMemset2D(a, pitch, 1, width, rows));
    HIP(hipMemcpy2D(back.data(), width, b, pitch, width, rows, hipMemcpyDeviceToHost));
    EXPECT(host == back);
    HIP(hipMemcpy2D(back.data(), width, a, pitch, width, rows, hipMemcpyDeviceToHost));
    for (int value : back)
        EXPECT(value == 0x01010101);
    HIP(hipFree(a));
    HIP(hipFree(b));
}

int main()
{
    device_memory();
    large_copies();
    shared_memory();
    registered_memory();
    two_dimensions();
    return verdict();
}
