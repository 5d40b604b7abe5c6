/* OpenMP target regions: maps, teams, reductions, atomics, device memory, against the host's results. */
#include <omp.h>
#include <stdio.h>

#define N 100000

static double a[N], b[N], c[N];
static int failures;

static void expect(const char *what, int good)
{
    if (!good) {
        printf("wrong: %s\n", what);
        failures++;
    }
}

static void maps(void)
{
    for (int i = 0; i < N; i++) {
        a[i] = i;
        b[i] = 2 * i;
    }
#pragma omp target teams distribute parallel for map(to : a, b) map(from : c)
    for (int i = 0; i < N; i++)
        c[i] = a[i] * 3 + b[i];
    int good = 1;
    for (int i = 0; i < N; i++)
        good &= c[i] == 5.0 * i;
    expect("maps", good);
}

static void reductions(void)
{
    double sum = 0;
    long whole = 0;
    int most = -1, host = -1;
#pragma omp target teams distribute parallel for reduction(+ : sum, whole) map(to : a)
    for (int i = 0; i < N; i++) {
        sum += a[i];
        whole += i;
    }
    expect("sum", whole == (long)N * (N - 1) / 2 && sum == (double)N * (N - 1) / 2);
#pragma omp target teams distribute parallel for reduction(max : most) collapse(2)
    for (int i = 0; i < 300; i++)
        for (int k = 0; k < 300; k++) {
            int value = (i * 7919 + k * 104729) % 65537;
            most = value > most ? value : most;
        }
    for (int i = 0; i < 300; i++)
        for (int k = 0; k < 300; k++) {
            int value = (i * 7919 + k * 104729) % 65537;
            host = value > host ? value : host;
        }
    expect("maximum", most == host);
}

static void atomics(void)
{
    int bins[16] = {0}, host[16] = {0};
#pragma omp target teams distribute parallel for map(tofrom : bins)
    for (int i = 0; i < N; i++) {
#pragma omp atomic
        bins[(i * 7) & 15]++;
    }
    for (int i = 0; i < N; i++)
        host[(i * 7) & 15]++;
    int good = 1;
    for (int i = 0; i < 16; i++)
        good &= bins[i] == host[i];
    expect("atomics", good);
}

static void device_memory(void)
{
    int device = omp_get_default_device(), back[1000];
    int *data = omp_target_alloc(sizeof back, device);
#pragma omp target teams distribute parallel for is_device_ptr(data)
    for (int i = 0; i < 1000; i++)
        data[i] = i * i;
    omp_target_memcpy(back, data, sizeof back, 0, 0, omp_get_initial_device(), device);
    omp_target_free(data, device);
    int good = 1;
    for (int i = 0; i < 1000; i++)
        good &= back[i] == i * i;
    expect("device memory", good);
}

static void regions(void)
{
    int on_host = 1, entered = 0;
#pragma omp target map(from : on_host)
    on_host = omp_is_initial_device();
    expect("on the device", !on_host);
#pragma omp target map(tofrom : entered)
    {
#pragma omp parallel num_threads(64)
        {
#pragma omp critical
            entered++;
        }
    }
    expect("critical", entered == 64);
}

int main(void)
{
    expect("one device", omp_get_num_devices() == 1);
    maps();
    reductions();
    atomics();
    device_memory();
    regions();
    printf(failures ? "%d failures\n" : "all is well\n", failures);
    return failures != 0;
}
