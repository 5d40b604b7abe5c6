// Load: many streams, signals, forks, memory to its end. What it prints is read by load.rs.
#include "check.h"

#include <atomic>
#include <cerrno>
#include <cstring>
#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <thread>
#include <time.h>
#include <unistd.h>
#include <vector>

// Every dispatch counts once, in each lane of its two waves.
__global__ void count(unsigned *counts) { atomicAdd(&counts[threadIdx.x], 1u); }

// Kernels that differ, so that each is translated.
template <int N> __global__ void powers(unsigned *data)
{
    unsigned value = data[threadIdx.x];
#pragma unroll
    for (int i = 0; i < N + 4; i++)
        value = value * (2 * N + 3) + (value >> (N % 7 + 1));
    data[threadIdx.x] = value;
}

template <int N> static void all_powers(unsigned *data, std::vector<unsigned> &expected)
{
    powers<N><<<1, 64>>>(data);
    for (unsigned &value : expected)
        for (int i = 0; i < N + 4; i++)
            value = value * (2 * N + 3) + (value >> (N % 7 + 1));
    if (N > 0)
        all_powers<(N > 0 ? N - 1 : 0)>(data, expected);
}

static double now()
{
    timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + time.tv_nsec * 1e-9;
}

// What the process holds of the system.
struct Held {
    long kib = 0, maps = 0, files = 0, threads = 0;

    static Held now()
    {
        Held held;
        char line[4096];
        FILE *status = fopen("/proc/self/status", "r");
        while (fgets(line, sizeof line, status)) {
            sscanf(line, "VmRSS: %ld", &held.kib);
            sscanf(line, "Threads: %ld", &held.threads);
        }
        fclose(status);
        FILE *maps = fopen("/proc/self/maps", "r");
        while (fgets(line, sizeof line, maps))
            held.maps += strchr(line, '\n') != nullptr;
        fclose(maps);
        DIR *files = opendir("/proc/self/fd");
        while (readdir(files))
            held.files++;
        closedir(files);
        return held;
    }
};

static void print(const char *when, const Held &held)
{
    printf("%s: %ld KiB, %ld maps, %ld files, %ld threads\n", when, held.kib, held.maps, held.files,
           held.threads);
}

// Counters of a stream, one for each lane.
static const int LANES = 128;

static void dispatches(unsigned *counts, unsigned from, unsigned to, hipStream_t stream)
{
    for (unsigned done = from; done < to;) {
        unsigned next = to - done > 1000 ? done + 1000 : to;
        for (; done < next; done++)
            count<<<1, LANES, 0, stream>>>(counts);
        unsigned host[LANES];
        HIP(hipMemcpyAsync(host, counts, sizeof host, hipMemcpyDeviceToHost, stream));
        HIP(hipStreamSynchronize(stream));
        for (unsigned value : host)
            EXPECT(value == done);
    }
}

// `number` streams of as many threads, each with so many dispatches; what is held after a tenth of them and at the end.
static void queues(int number, unsigned each)
{
    std::vector<hipStream_t> streams(number);
    unsigned *counts;
    HIP(hipMalloc(&counts, number * LANES * sizeof *counts));
    HIP(hipMemset(counts, 0, number * LANES * sizeof *counts));
    HIP(hipDeviceSynchronize());
    for (auto &stream : streams)
        HIP(hipStreamCreate(&stream));
    double begin = now();
    auto part = [&](unsigned from, unsigned to) {
        std::vector<std::thread> threads;
        for (int i = 0; i < number; i++)
            threads.emplace_back(dispatches, counts + i * LANES, from, to, streams[i]);
        for (auto &thread : threads)
            thread.join();
    };
    part(0, each / 10);
    Held first = Held::now();
    part(each / 10, each);
    Held last = Held::now();
    double seconds = now() - begin;
    print("after a tenth", first);
    print("at the end", last);
    printf("%d queues, %u dispatches each, %.0f per second\n", number, each,
           double(number) * each / seconds);
    for (auto &stream : streams)
        HIP(hipStreamDestroy(stream));
    HIP(hipFree(counts));
}

static std::atomic<unsigned> alarms, foreign;

static void alarm_rang(int)
{
    int before = errno;
    char name[32] = {};
    prctl(PR_GET_NAME, name);
    alarms++;
    for (const char *own : {"hsa ", "wavelift", "translate"})
        foreign += strncmp(name, own, strlen(own)) == 0;
    errno = before;
}

// A timer's signals interrupt all system calls meanwhile.
static void storm(int number, unsigned each)
{
    struct sigaction action = {};
    action.sa_handler = alarm_rang;
    sigaction(SIGALRM, &action, nullptr);
    itimerval timer = {{0, 300}, {0, 300}};
    setitimer(ITIMER_REAL, &timer, nullptr);
    queues(number, each);
    timer = {};
    setitimer(ITIMER_REAL, &timer, nullptr);
    printf("%u alarms, %u on threads of the library\n", unsigned(alarms), unsigned(foreign));
    EXPECT(alarms > 0);
    EXPECT(foreign == 0);
}

// The status of a child that calls `work`, killed if it takes a minute.
template <typename Work> static int child(Work work)
{
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        alarm(60);
        _exit(work());
    }
    int status = 0;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    return status;
}

static int adds()
{
    int *data, host[64];
    if (hipMalloc(&data, sizeof host) != hipSuccess)
        return 3;
    if (hipMemset(data, 0, sizeof host) != hipSuccess)
        return 4;
    add_one<<<1, 64>>>(data, 64);
    if (hipMemcpy(host, data, sizeof host, hipMemcpyDeviceToHost) != hipSuccess)
        return 5;
    for (int value : host)
        if (value != 1)
            return 6;
    return hipFree(data) == hipSuccess ? 0 : 7;
}

// Children before and behind the first use, and hundreds while kernels run.
static void forks(unsigned each)
{
    EXPECT(child(adds) == 0);
    EXPECT(adds() == 0);
    // The child has none of the library's threads. It may call the system and end, and start programs.
    EXPECT(child([] { return 9; }) == 9 << 8);
    EXPECT(system("exit 4") == 4 << 8);
    std::atomic<bool> done{false};
    unsigned children = 0;
    std::thread forking([&] {
        while (!done) {
            EXPECT(child([] { return 9; }) == 9 << 8);
            children++;
        }
    });
    queues(4, each);
    done = true;
    forking.join();
    printf("%u children\n", children);
    EXPECT(adds() == 0);
}

// A child that uses the device after its parent has: an error, not a wait.
static void forked()
{
    EXPECT(adds() == 0);
    int status = child(adds);
    printf("child: %s %d\n", WIFEXITED(status) ? "status" : "signal",
           WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
    EXPECT(adds() == 0);
}

// All memory of the device, in each of several rounds.
static void memory(int rounds)
{
    const size_t BLOCK = 8 << 20;
    size_t first = 0;
    for (int round = 0; round < rounds; round++) {
        std::vector<void *> blocks;
        void *block;
        hipError_t error;
        while ((error = hipMalloc(&block, BLOCK)) == hipSuccess)
            blocks.push_back(block);
        EXPECT(error == hipErrorOutOfMemory);
        (void)hipGetLastError();
        EXPECT(blocks.size() > 4);
        // A kernel runs with the little that is left.
        count<<<1, LANES>>>((unsigned *)blocks[0]);
        HIP(hipDeviceSynchronize());
        if (round == 0)
            first = blocks.size();
        EXPECT(blocks.size() == first);
        for (void *block : blocks)
            HIP(hipFree(block));
        EXPECT(adds() == 0);
        if (round == rounds / 10)
            print("after a tenth", Held::now());
    }
    print("at the end", Held::now());
    printf("%zu blocks of 8 MiB\n", first);
}

// Sixty kernels.
static void kernels()
{
    unsigned *data;
    std::vector<unsigned> host(64), expected(64);
    for (int i = 0; i < 64; i++)
        host[i] = expected[i] = i;
    HIP(hipMalloc(&data, 256));
    HIP(hipMemcpy(data, host.data(), 256, hipMemcpyHostToDevice));
    all_powers<59>(data, expected);
    HIP(hipMemcpy(host.data(), data, 256, hipMemcpyDeviceToHost));
    EXPECT(host == expected);
    HIP(hipFree(data));
}

int main(int count, char **arguments)
{
    auto what = [&](const char *name) { return count > 1 && strcmp(arguments[1], name) == 0; };
    auto number = [&](int at, int otherwise) {
        return count > at ? atoi(arguments[at]) : otherwise;
    };
    if (what("queues"))
        queues(number(2, 24), number(3, 1000));
    else if (what("storm"))
        storm(number(2, 4), number(3, 1000));
    else if (what("forks"))
        forks(number(2, 1000));
    else if (what("forked"))
        forked();
    else if (what("memory"))
        memory(number(2, 10));
    else if (what("kernels"))
        kernels();
    else
        return 2;
    return verdict();
}
