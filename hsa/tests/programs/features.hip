// Graphs, streams that wait for values in memory, copies in three dimensions, memory in the order of a
// stream; and that cooperative launches are refused.
#include "check.h"

#include <vector>

static const int N = 1024;

static int *zeros()
{
    int *data;
    HIP(hipMalloc(&data, N * sizeof(int)));
    HIP(hipMemset(data, 0, N * sizeof(int)));
    return data;
}

static int last(const int *data)
{
    int value;
    HIP(hipMemcpy(&value, data + N - 1, sizeof value, hipMemcpyDeviceToHost));
    return value;
}

static void graphs()
{
    hipStream_t stream;
    hipGraph_t graph;
    hipGraphExec_t ready;
    int *data = zeros();
    HIP(hipStreamCreate(&stream));
    HIP(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
    for (int i = 0; i < 5; i++)
        add_one<<<blocks(N), 256, 0, stream>>>(data, N);
    HIP(hipStreamEndCapture(stream, &graph));
    HIP(hipGraphInstantiate(&ready, graph, nullptr, nullptr, 0));
    for (int i = 0; i < 3; i++)
        HIP(hipGraphLaunch(ready, stream));
    HIP(hipStreamSynchronize(stream));
    EXPECT(last(data) == 15);
    HIP(hipGraphExecDestroy(ready));
    HIP(hipGraphDestroy(graph));
    HIP(hipStreamDestroy(stream));
    HIP(hipFree(data));
}

static void values()
{
    hipStream_t waiting, writing;
    uint64_t *signal;
    int *data = zeros();
    HIP(hipStreamCreate(&waiting));
    HIP(hipStreamCreateWithPriority(&writing, hipStreamNonBlocking, -1));
    HIP(hipExtMallocWithFlags((void **)&signal, 8, hipMallocSignalMemory));
    *(volatile uint64_t *)signal = 0;
    HIP(hipStreamWaitValue64(waiting, signal, 3, hipStreamWaitValueGte, ~0ull));
    add_one<<<blocks(N), 256, 0, waiting>>>(data, N);
    EXPECT(hipStreamQuery(waiting) == hipErrorNotReady);
    HIP(hipStreamWriteValue64(writing, signal, 7, 0));
    HIP(hipStreamSynchronize(waiting));
    HIP(hipStreamSynchronize(writing));
    EXPECT(last(data) == 1);
    HIP(hipFree(signal));
    HIP(hipStreamDestroy(waiting));
    HIP(hipStreamDestroy(writing));
    HIP(hipFree(data));
}

static void three_dimensions()
{
    hipExtent extent = make_hipExtent(64, 8, 4);
    hipPitchedPtr device;
    std::vector<char> host(64 * 8 * 4), back(host.size());
    for (size_t i = 0; i < host.size(); i++)
        host[i] = i * 3;
    HIP(hipMalloc3D(&device, extent));
    hipMemcpy3DParms copy = {};
    copy.srcPtr = make_hipPitchedPtr(host.data(), 64, 64, 8);
    copy.dstPtr = device;
    copy.extent = extent;
    copy.kind = hipMemcpyHostToDevice;
    HIP(hipMemcpy3D(&copy));
    copy.srcPtr = device;
    copy.dstPtr = make_hipPitchedPtr(back.data(), 64, 64, 8);
    copy.kind = hipMemcpyDeviceToHost;
    HIP(hipMemcpy3D(&copy));
    EXPECT(host == back);
    HIP(hipFree(device.ptr));
}

static void stream_ordered_memory()
{
    hipStream_t stream;
    hipMemPool_t pool;
    int *data, value;
    HIP(hipStreamCreate(&stream));
    HIP(hipMallocAsync((void **)&data, N * sizeof(int), stream));
    HIP(hipMemsetAsync(data, 0, N * sizeof(int), stream));
    add_one<<<blocks(N), 256, 0, stream>>>(data, N);
    HIP(hipMemcpyAsync(&value, data + N - 1, sizeof value, hipMemcpyDeviceToHost, stream));
    HIP(hipFreeAsync(data, stream));
    HIP(hipStreamSynchronize(stream));
    EXPECT(value == 1);
    // hipStreamDestroy of HIP 5.2 does not come back while a pool holds free memory, on any GPU.
    HIP(hipDeviceGetDefaultMemPool(&pool, 0));
    HIP(hipMemPoolTrimTo(pool, 0));
    HIP(hipStreamDestroy(stream));
}

static void cooperative_launches()
{
    int there = 0, n = 1000, *data = zeros();
    HIP(hipDeviceGetAttribute(&there, hipDeviceAttributeCooperativeLaunch, 0));
    EXPECT(there);
    void *arguments[] = {&data, &n};
    HIP(hipLaunchCooperativeKernel((void *)add_one, dim3(4), dim3(256), arguments, 0, 0));
    HIP(hipDeviceSynchronize());
    int first[2];
    HIP(hipMemcpy(first, data + n - 1, sizeof first, hipMemcpyDeviceToHost));
    EXPECT(first[0] == 1 && first[1] == 0);
    HIP(hipFree(data));
}

int main()
{
    graphs();
    values();
    three_dimensions();
    stream_ordered_memory();
    cooperative_launches();
    return verdict();
}
