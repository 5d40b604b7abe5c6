// What a launch and a copy cost: an empty kernel from launch to synchronization, and copies beside
// memcpy in the same run. `speed launch` and `speed copy [MiB]` print tables; without arguments few rounds
// of both.
#include "check.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <ctime>
#include <functional>
#include <thread>
#include <vector>

typedef std::function<void()> Work;

__global__ void empty() {}

static double seconds()
{
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

static double time_of(const Work &work)
{
    double begin = seconds();
    work();
    return seconds() - begin;
}

static double processor_seconds()
{
    timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return double(time.tv_sec) + double(time.tv_nsec) * 1e-9;
}

static void launches(int rounds)
{
    for (int pause : {0, 2}) {
        for (int groups : {1, 2, 4, 64}) {
            std::vector<double> times;
            int count = pause ? std::max(rounds / 10, 10) : rounds;
            for (int i = 0; i < count; i++) {
                if (pause)
                    std::this_thread::sleep_for(std::chrono::milliseconds(pause));
                times.push_back(time_of([=] {
                    empty<<<groups, 64>>>();
                    HIP(hipDeviceSynchronize());
                }));
                HIP(hipGetLastError());
            }
            std::sort(times.begin(), times.end());
            printf("empty kernel, %2d workgroups, %d ms between: least %.1f us, median %.1f us, 9 of 10 under "
                   "%.1f us\n",
                   groups, pause, times[0] * 1e6, times[times.size() / 2] * 1e6,
                   times[times.size() * 9 / 10] * 1e6);
        }
    }
    double begin = seconds();
    for (int i = 0; i < rounds; i++)
        empty<<<1, 64>>>();
    HIP(hipDeviceSynchronize());
    printf("one of %d empty kernels in a row: %.1f us\n", rounds, (seconds() - begin) / rounds * 1e6);
    double before = processor_seconds();
    std::this_thread::sleep_for(std::chrono::seconds(1));
    printf("processor time of a second without work: %.3f ms\n", (processor_seconds() - before) * 1e3);
}

static void copies(size_t most, int rounds)
{
    // All begin on a page: some processors copy at a tenth of their speed to addresses that are a few bytes
    // more than the source's, modulo 4096, whoever asks them to.
    char *from = (char *)aligned_alloc(4096, most), *to = (char *)aligned_alloc(4096, most);
    memset(from, 1, most);
    memset(to, 2, most);
    char *pinned, *a, *b;
    HIP(hipHostMalloc(&pinned, most, 0));
    HIP(hipMalloc(&a, most));
    HIP(hipMalloc(&b, most));
    memset(pinned, 3, most);
    HIP(hipMemset(a, 4, most));
    HIP(hipMemset(b, 5, most));
    HIP(hipDeviceSynchronize());
    auto copy = [](void *out, const void *in, size_t bytes, hipMemcpyKind kind) {
        HIP(hipMemcpy(out, in, bytes, kind));
        // Copies within the device do not wait.
        if (kind == hipMemcpyDeviceToDevice)
            HIP(hipDeviceSynchronize());
    };
    printf("%10s %9s %9s %9s %9s %9s %9s   GB/s\n", "bytes", "memcpy", "to", "from", "to, pinned",
           "from, p.", "within");
    for (size_t bytes = 64 << 10; bytes <= most; bytes *= 4) {
        const Work works[] = {
            [&] { memcpy(to, from, bytes); },
            [&] { copy(a, from, bytes, hipMemcpyHostToDevice); },
            [&] { copy(to, a, bytes, hipMemcpyDeviceToHost); },
            [&] { copy(a, pinned, bytes, hipMemcpyHostToDevice); },
            [&] { copy(pinned, a, bytes, hipMemcpyDeviceToHost); },
            [&] { copy(b, a, bytes, hipMemcpyDeviceToDevice); },
        };
        const int kinds = sizeof works / sizeof *works;
        double least[kinds];
        std::fill(least, least + kinds, 1e9);
        // In turns, so that all meet the same machine.
        // HIP's own buffers come into being as they are used the first time.
        int more = rounds < 10 ? 0 : int((16 << 20) / bytes);
        for (int round = 0; round < rounds + more; round++)
            for (int i = 0; i < kinds; i++)
                least[i] = std::min(least[i], time_of(works[i]));
        printf("%10zu", bytes);
        for (double time : least)
            printf(" %9.2f", double(bytes) / time * 1e-9);
        printf("\n");
    }
    HIP(hipHostFree(pinned));
    HIP(hipFree(a));
    HIP(hipFree(b));
    free(from);
    free(to);
}

int main(int count, char **arguments)
{
    const char *what = count > 1 ? arguments[1] : "";
    if (!*what) {
        launches(20);
        copies(1 << 20, 2);
    } else if (!strcmp(what, "launch")) {
        launches(2000);
    } else {
        copies(size_t(count > 2 ? atoi(arguments[2]) : 256) << 20, 15);
    }
    return verdict();
}
