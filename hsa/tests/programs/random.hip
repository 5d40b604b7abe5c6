// rocRAND: a line for each generator, the same on every GPU; and XORWOW, Philox and MRG32k3a against the
// same engines compiled for the host.
#define FQUALIFIERS __forceinline__ __host__ __device__
#include "check.h"

#include <rocrand/rocrand.h>
#include <rocrand/rocrand_kernel.h>

#include <cstdint>
#include <vector>

static const size_t N = 300000;
static const unsigned long long SEED = 12345;

// Threads of the library's generators; thread t makes the numbers t, t + THREADS, ...
static const size_t THREADS = 512 * 256;

#define ROCRAND(call)                                                                          \
    do {                                                                                       \
        int status = (call);                                                                   \
        if (status != ROCRAND_STATUS_SUCCESS) {                                                \
            printf("%s:%d: %s: %d\n", __FILE__, __LINE__, #call, status);                      \
            exit(2);                                                                           \
        }                                                                                      \
    } while (0)

static std::vector<unsigned> generate(const char *name, rocrand_rng_type type)
{
    rocrand_generator generator;
    unsigned *data;
    std::vector<unsigned> host(N);
    HIP(hipMalloc(&data, N * sizeof(unsigned)));
    ROCRAND(rocrand_create_generator(&generator, type));
    if (type < ROCRAND_RNG_QUASI_DEFAULT)
        ROCRAND(rocrand_set_seed(generator, SEED));
    ROCRAND(rocrand_generate(generator, data, N));
    HIP(hipMemcpy(host.data(), data, N * sizeof(unsigned), hipMemcpyDeviceToHost));
    ROCRAND(rocrand_destroy_generator(generator));
    HIP(hipFree(data));
    uint64_t hash = 14695981039346656037u;
    for (unsigned value : host)
        hash = (hash ^ value) * 1099511628211u;
    printf("%s %016llx\n", name, (unsigned long long)hash);
    return host;
}

template <class State> static void compare_threads(const std::vector<unsigned> &device)
{
    for (size_t thread = 0; thread < THREADS; thread += 1021) {
        State state;
        rocrand_init(SEED, thread, 0, &state);
        for (size_t i = thread; i < N; i += THREADS)
            EXPECT(device[i] == rocrand(&state));
    }
}

int main()
{
    compare_threads<rocrand_state_xorwow>(generate("xorwow", ROCRAND_RNG_PSEUDO_XORWOW));
    compare_threads<rocrand_state_mrg32k3a>(generate("mrg32k3a", ROCRAND_RNG_PSEUDO_MRG32K3A));
    // Philox has one sequence for all threads.
    std::vector<unsigned> philox = generate("philox", ROCRAND_RNG_PSEUDO_PHILOX4_32_10);
    rocrand_state_philox4x32_10 state;
    rocrand_init(SEED, 0, 0, &state);
    for (unsigned value : philox)
        EXPECT(value == rocrand(&state));
    generate("mtgp32", ROCRAND_RNG_PSEUDO_MTGP32);
    generate("sobol32", ROCRAND_RNG_QUASI_SOBOL32);
    generate("sobol64", ROCRAND_RNG_QUASI_SOBOL64);
    return verdict();
}
