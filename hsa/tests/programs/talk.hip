// The device talks to the host: printf. And stops it: assert, abort, a wild store, a kernel without end.
#include "check.h"

#include <cassert>
#include <cstring>

__global__ void hello(int n)
{
    if ((int)threadIdx.x < n)
        printf("block %d thread %d says %s %.2f\n", (int)blockIdx.x, (int)threadIdx.x, "hello",
               threadIdx.x * 0.5);
}

__global__ void claim(int n) { assert((int)threadIdx.x < n && "too many threads"); }

__global__ void give_up(int n)
{
    if ((int)threadIdx.x == n)
        abort();
}

__global__ void store_wildly(int *data)
{
    if (threadIdx.x == 7)
        data[threadIdx.x] = 1;
}

__global__ void wait_for_ever(volatile int *data)
{
    while (*data == 0) {
    }
}

int main(int, char **arguments)
{
    const char *what = arguments[1];
    if (!strcmp(what, "print")) {
        hello<<<2, 64>>>(3);
        HIP(hipDeviceSynchronize());
        hello<<<20, 64>>>(64);
    } else if (!strcmp(what, "assert")) {
        claim<<<1, 64>>>(10);
    } else if (!strcmp(what, "abort")) {
        give_up<<<1, 64>>>(5);
    } else if (!strcmp(what, "wait")) {
        int *data;
        HIP(hipMalloc(&data, sizeof *data));
        HIP(hipMemset(data, 0, sizeof *data));
        wait_for_ever<<<1, 64>>>(data);
    } else {
        store_wildly<<<1, 64>>>((int *)0xdead0000);
    }
    HIP(hipDeviceSynchronize());
    return verdict();
}
