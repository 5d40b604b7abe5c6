// Streams that overlap, events, callbacks, and several host threads.
#include "check.h"

#include <atomic>
#include <cstring>
#include <thread>
#include <vector>

static const int STREAMS = 4, N = 10000;
static const size_t BYTES = N * sizeof(int);

__global__ void work(int *data, int rounds)
{
    int value = *data;
    for (int i = 0; i < rounds; i++)
        value = value * 1664525 + 1013904223;
    *data = value;
}

static void count(hipStream_t, hipError_t, void *data) { *(std::atomic<int> *)data += 1; }

static void streams()
{
    hipStream_t stream[STREAMS];
    hipEvent_t begin, end, between;
    int *device[STREAMS], *host[STREAMS];
    std::atomic<int> calls{0};
    HIP(hipEventCreate(&begin));
    HIP(hipEventCreate(&end));
    HIP(hipEventCreate(&between));
    for (int i = 0; i < STREAMS; i++) {
        HIP(hipStreamCreate(&stream[i]));
        HIP(hipMalloc(&device[i], BYTES));
        HIP(hipHostMalloc(&host[i], BYTES, 0));
        for (int k = 0; k < N; k++)
            host[i][k] = i;
    }
    HIP(hipEventRecord(begin, 0));
    for (int i = 0; i < STREAMS; i++) {
        HIP(hipMemcpyAsync(device[i], host[i], BYTES, hipMemcpyHostToDevice, stream[i]));
        for (int k = 0; k < 20; k++)
            add_one<<<blocks(N), 256, 0, stream[i]>>>(device[i], N);
        HIP(hipMemcpyAsync(host[i], device[i], BYTES, hipMemcpyDeviceToHost, stream[i]));
        HIP(hipStreamAddCallback(stream[i], count, &calls, 0));
    }
    for (int i = 0; i < STREAMS; i++) {
        HIP(hipStreamSynchronize(stream[i]));
        for (int k = 0; k < N; k++)
            EXPECT(host[i][k] == i + 20);
    }
    EXPECT(calls == STREAMS);
    HIP(hipEventRecord(end, 0));
    HIP(hipEventSynchronize(end));
    float milliseconds;
    HIP(hipEventElapsedTime(&milliseconds, begin, end));
    EXPECT(milliseconds > 0 && milliseconds < 600000);

    // Stream 1 copies what stream 0 has made.
    work<<<1, 1, 0, stream[0]>>>(device[0], 1000000);
    add_one<<<blocks(N), 256, 0, stream[0]>>>(device[0], N);
    HIP(hipEventRecord(between, stream[0]));
    HIP(hipStreamWaitEvent(stream[1], between, 0));
    HIP(hipMemcpyAsync(device[1], device[0], BYTES, hipMemcpyDeviceToDevice, stream[1]));
    HIP(hipStreamSynchronize(stream[1]));
    HIP(hipEventQuery(between));
    HIP(hipMemcpy(host[0], device[0], BYTES, hipMemcpyDeviceToHost));
    HIP(hipMemcpy(host[1], device[1], BYTES, hipMemcpyDeviceToHost));
    EXPECT(memcmp(host[0], host[1], BYTES) == 0);
    unsigned value = 20;
    for (int i = 0; i < 1000000; i++)
        value = value * 1664525 + 1013904223;
    EXPECT(unsigned(host[0][0]) == value + 1);

    for (int i = 0; i < STREAMS; i++) {
        HIP(hipStreamDestroy(stream[i]));
        HIP(hipFree(device[i]));
        HIP(hipHostFree(host[i]));
    }
}

static void launch(int number, std::atomic<int> *wrong)
{
    hipStream_t stream;
    int *data;
    HIP(hipStreamCreate(&stream));
    HIP(hipMalloc(&data, 4000));
    std::vector<int> host(1000, number);
    HIP(hipMemcpyAsync(data, host.data(), 4000, hipMemcpyHostToDevice, stream));
    for (int i = 0; i < 100; i++)
        add_one<<<4, 256, 0, stream>>>(data, 1000);
    HIP(hipMemcpyAsync(host.data(), data, 4000, hipMemcpyDeviceToHost, stream));
    HIP(hipStreamSynchronize(stream));
    for (int value : host)
        *wrong += value != number + 100;
    HIP(hipFree(data));
    HIP(hipStreamDestroy(stream));
}

int main()
{
    streams();
    std::vector<std::thread> threads;
    std::atomic<int> wrong{0};
    for (int i = 0; i < 6; i++)
        threads.emplace_back(launch, i, &wrong);
    for (auto &thread : threads)
        thread.join();
    EXPECT(wrong == 0);
    return verdict();
}
