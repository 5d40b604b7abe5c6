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

// Elements of every size, lanes in any order, and neighbours that are in different ranges.
__global__ void rearrange(const int *order, const char *bytes, const short *shorts, const int4 *fours,
                          const int *other, long long *sums, char *narrow, int4 *wide)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, from = order[i];
    int4 four = fours[from];
    const int *either = i % 3 == 0 ? other : order;
    sums[i] = bytes[from] * 1000000LL + shorts[from] * 1000LL + four.x + four.w + either[i];
    narrow[from] = bytes[i] + 1;
    wide[from] = make_int4(four.w, four.z, four.y, i);
}

__global__ void count(int *counts, int *tickets, unsigned long long *all)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    tickets[i] = atomicAdd(&counts[i % 5], 1);
    atomicAdd(all, (unsigned long long)i << 20);
    if (i % 2)
        atomicMax(&counts[5 + i % 7], i);
}

template <typename T> static T *seen_by_kernels(std::vector<T> &host)
{
    T *seen;
    HIP(hipHostRegister(host.data(), host.size() * sizeof(T), 0));
    HIP(hipHostGetDevicePointer((void **)&seen, host.data(), 0));
    return seen;
}

static void registered_memory_in_any_order()
{
    const int n = 1024;
    std::vector<int> order(n), other(n);
    std::vector<char> bytes(n), narrow(n);
    std::vector<short> shorts(n);
    std::vector<int4> fours(n), wide(n);
    std::vector<long long> sums(n);
    for (int i = 0; i < n; i++) {
        order[i] = i * 37 % n;
        other[i] = -i;
        bytes[i] = i * 7;
        shorts[i] = i * 101;
        fours[i] = make_int4(i, i * 2, i * 3, i * 4);
    }
    rearrange<<<n / 256, 256>>>(seen_by_kernels(order), seen_by_kernels(bytes), seen_by_kernels(shorts),
                                seen_by_kernels(fours), seen_by_kernels(other), seen_by_kernels(sums),
                                seen_by_kernels(narrow), seen_by_kernels(wide));
    HIP(hipDeviceSynchronize());
    for (int i = 0; i < n; i++) {
        int from = order[i];
        int4 four = fours[from], turned = wide[from];
        EXPECT(sums[i] == bytes[from] * 1000000LL + shorts[from] * 1000LL + four.x + four.w
                              + (i % 3 == 0 ? other[i] : order[i]));
        EXPECT(narrow[from] == char(bytes[i] + 1));
        EXPECT(turned.x == four.w && turned.y == four.z && turned.z == four.y && turned.w == i);
    }

    std::vector<int> counts(12), tickets(n);
    std::vector<unsigned long long> all(1);
    count<<<n / 256, 256>>>(seen_by_kernels(counts), seen_by_kernels(tickets), seen_by_kernels(all));
    HIP(hipDeviceSynchronize());
    std::vector<std::vector<bool>> had(5, std::vector<bool>(n));
    for (int i = 0; i < n; i++) {
        int ticket = tickets[i];
        EXPECT(ticket >= 0 && ticket < counts[i % 5] && !had[i % 5][ticket]);
        had[i % 5][ticket] = true;
    }
    for (int i = 0; i < 5; i++)
        EXPECT(counts[i] == (n + 4 - i) / 5);
    for (int i = 0; i < 7; i++) {
        int last = 0;
        for (int k = 1; k < n; k += 2)
            last = k % 7 == i ? k : last;
        EXPECT(counts[5 + i] == last);
    }
    EXPECT(all[0] == (unsigned long long)n * (n - 1) / 2 << 20);
    for (void *memory : {(void *)order.data(), (void *)bytes.data(), (void *)shorts.data(),
                         (void *)fours.data(), (void *)other.data(), (void *)sums.data(),
                         (void *)narrow.data(), (void *)wide.data(), (void *)counts.data(),
                         (void *)tickets.data(), (void *)all.data()})
        HIP(hipHostUnregister(memory));
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
    registered_memory_in_any_order();
    two_dimensions();
    return verdict();
}
