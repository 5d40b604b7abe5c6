// The host's floating-point environment is not the device's. Threads inherit it from their creator, so
// it is set before the first call of HIP.
#include "check.h"

#include <cfenv>
#include <cmath>
#include <cstring>
#include <xmmintrin.h>

enum Result { HALVED, ROUNDED, DIVIDED, COUNT };

__global__ void calculate(const float *in, float *out)
{
    switch (threadIdx.x) {
    case HALVED: // the least normal number: the result is denormal
        out[HALVED] = in[0] * 0.5f;
        break;
    case ROUNDED: // 1 + 2^-24: a tie, which goes to the even one
        out[ROUNDED] = in[1] + in[2];
        break;
    case DIVIDED:
        out[DIVIDED] = in[1] / in[3];
        break;
    }
}

int main(int, char **arguments)
{
    const char *mode = arguments[1];
    if (!strcmp(mode, "flush"))
        _mm_setcsr(_mm_getcsr() | 0x8040);
    else if (!strcmp(mode, "upward"))
        fesetround(FE_UPWARD);
    else if (!strcmp(mode, "trap"))
        feenableexcept(FE_DIVBYZERO | FE_INVALID | FE_OVERFLOW);
    unsigned before = _mm_getcsr() & ~0x3fu;
    const unsigned in[] = {0x00800000, 0x3f800000, 0x33800000, 0};
    const unsigned want[COUNT] = {0x00400000, 0x3f800000, 0x7f800000};
    unsigned got[COUNT] = {};
    float *source, *results;
    HIP(hipMalloc(&source, sizeof in));
    HIP(hipMalloc(&results, sizeof got));
    HIP(hipMemcpy(source, in, sizeof in, hipMemcpyHostToDevice));
    calculate<<<1, 64>>>(source, results);
    HIP(hipMemcpy(got, results, sizeof got, hipMemcpyDeviceToHost));
    for (int i = 0; i < COUNT; i++)
        EXPECT(got[i] == want[i]);
    // The host keeps its own.
    EXPECT((_mm_getcsr() & ~0x3fu) == before);
    return verdict();
}
