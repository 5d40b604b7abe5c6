// Kernels with defects that wavelift check exec finds, and the same ones without. The arguments say what is done, in this
// order.
#include "check.h"

#include <csignal>
#include <cstring>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

const int size = 128;

// Two waves exchange elements by LDS.
template <bool defect> __global__ void reverse(int *data)
{
    __shared__ int tile[size];
    tile[threadIdx.x] = data[threadIdx.x];
    if (!defect)
        __syncthreads();
    data[threadIdx.x] = tile[size - 1 - threadIdx.x];
}

// Workgroups count themselves.
template <bool defect> __global__ void count(int *counter)
{
    if (threadIdx.x != 0)
        return;
    if (defect)
        *counter += 1;
    else
        atomicAdd(counter, 1);
}

__global__ void fill(int *data, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        data[i] = i;
}

__global__ void stuck(int *counter, volatile int *flag)
{
    *counter += 1;
    while (*flag == 0) {
    }
}

static int *allocate()
{
    int *data;
    HIP(hipMalloc(&data, size * sizeof(int)));
    HIP(hipMemset(data, 0, size * sizeof(int)));
    return data;
}

static void clean()
{
    int *data = allocate();
    fill<<<1, 2 * size>>>(data, size);
    reverse<false><<<1, size>>>(data);
    count<false><<<4, 64>>>(data);
    std::vector<int> result(size);
    HIP(hipMemcpy(result.data(), data, size * sizeof(int), hipMemcpyDeviceToHost));
    EXPECT(result[0] == size - 1 + 4);
    HIP(hipFree(data));
}

// Threads with a stream each: each has its memory, all read one buffer and count in another one.
static void concurrent()
{
    int *source = allocate(), *counter = allocate();
    std::vector<std::thread> threads;
    for (int n = 0; n < 4; n++)
        threads.emplace_back([=] {
            hipStream_t stream;
            HIP(hipStreamCreate(&stream));
            int *data = allocate();
            for (int i = 0; i < 8; i++) {
                HIP(hipMemcpyAsync(data, source, size * sizeof(int), hipMemcpyDeviceToDevice, stream));
                reverse<false><<<1, size, 0, stream>>>(data);
                count<false><<<4, 64, 0, stream>>>(counter);
            }
            reverse<true><<<1, size, 0, stream>>>(data);
            HIP(hipStreamSynchronize(stream));
            HIP(hipStreamDestroy(stream));
            HIP(hipFree(data));
        });
    for (auto &thread : threads)
        thread.join();
    int total;
    HIP(hipMemcpy(&total, counter, sizeof(int), hipMemcpyDeviceToHost));
    EXPECT(total == 4 * 8 * 4);
    HIP(hipFree(source));
    HIP(hipFree(counter));
}

static void defect(const char *name)
{
    int *data = allocate();
    if (!strcmp(name, "lds"))
        reverse<true><<<1, size>>>(data);
    else if (!strcmp(name, "global"))
        count<true><<<4, 64>>>(data);
    else if (!strcmp(name, "bounds"))
        fill<<<1, 2 * size>>>(data, size + 1);
    else if (!strcmp(name, "stuck"))
        stuck<<<2, 1>>>(data, data + 1);
    else if (!strcmp(name, "registered")) {
        // The host's own memory: bounds are not known.
        std::vector<int> own(4 * size);
        HIP(hipHostRegister(own.data(), own.size() * sizeof(int), hipHostRegisterMapped));
        int *mapped;
        HIP(hipHostGetDevicePointer((void **)&mapped, own.data(), 0));
        count<true><<<4, 64>>>(mapped);
        HIP(hipDeviceSynchronize());
        HIP(hipHostUnregister(own.data()));
    } else if (!strcmp(name, "freed")) {
        int *freed = allocate();
        HIP(hipFree(freed));
        HIP(hipFree(allocate()));
        fill<<<1, size>>>(freed, size);
    } else {
        printf("unknown: %s\n", name);
        exit(9);
    }
    HIP(hipDeviceSynchronize());
    HIP(hipFree(data));
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        const char *what = argv[i];
        if (!strcmp(what, "clean"))
            clean();
        else if (!strcmp(what, "concurrent"))
            concurrent();
        else if (!strcmp(what, "idle")) {
            int *data;
            HIP(hipMalloc(&data, size));
            HIP(hipFree(data));
        } else if (!strcmp(what, "exit"))
            _exit(5);
        else if (!strcmp(what, "kill"))
            raise(SIGKILL);
        else if (!strcmp(what, "status"))
            exit(7);
        else if (!strcmp(what, "fork")) {
            // Before the GPU is used: both processes do what follows.
            if (pid_t child = fork()) {
                int status;
                EXPECT(waitpid(child, &status, 0) == child && status == 0);
            }
        } else
            defect(what);
    }
    return verdict();
}
