// What the HIP programs share: errors of HIP end the program, wrong results are counted.
#pragma once
#include <hip/hip_runtime.h>

#include <cstdio>
#include <cstdlib>

static int failures = 0;

#define HIP(call)                                                                              \
    do {                                                                                       \
        hipError_t error = (call);                                                             \
        if (error != hipSuccess) {                                                             \
            printf("%s:%d: %s: %s\n", __FILE__, __LINE__, #call, hipGetErrorName(error));      \
            exit(2);                                                                           \
        }                                                                                      \
    } while (0)

#define EXPECT(condition)                                                                      \
    do {                                                                                       \
        if (!(condition) && failures++ < 20)                                                   \
            printf("%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);                     \
    } while (0)

__global__ void add_one(int *data, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        data[i] += 1;
}

static inline int blocks(int n) { return (n + 255) / 256; }

static inline int verdict()
{
    printf(failures ? "%d failures\n" : "all is well\n", failures);
    return failures != 0;
}
