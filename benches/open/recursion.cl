// Functions that call themselves; no other OpenCL runtime for the processor takes them.
#pragma OPENCL EXTENSION cl_khr_fp64 : enable

static __attribute__((noinline)) uint ackermann_of(uint m, uint n)
{
    if (m == 0)
        return n + 1;
    if (n == 0)
        return ackermann_of(m - 1, 1);
    return ackermann_of(m - 1, ackermann_of(m, n - 1));
}

kernel void ackermann(global uint *out, global const uint *numbers)
{
    size_t id = get_global_id(0);
    out[id] = ackermann_of(2, numbers[id]);
}

static __attribute__((noinline)) void sort(global int *a, int low, int high)
{
    if (low >= high)
        return;
    int pivot = a[(low + high) / 2], i = low, j = high;
    while (i <= j) {
        while (a[i] < pivot)
            i++;
        while (a[j] > pivot)
            j--;
        if (i <= j) {
            int t = a[i];
            a[i++] = a[j];
            a[j--] = t;
        }
    }
    sort(a, low, j);
    sort(a, i, high);
}

// Sorts rows of numbers by quicksort, one row per work-item.
kernel void quicksort(global int *rows, int length)
{
    sort(rows + get_global_id(0) * length, 0, length - 1);
}

static __attribute__((noinline)) double f(double x)
{
    return 1.0 / (1.0 + 25.0 * x * x);
}

static __attribute__((noinline))
double simpson(double a, double b, double fa, double fm, double fb, double whole, int depth)
{
    double m = 0.5 * (a + b), h = (b - a) * (1.0 / 12.0);
    double fl = f(0.5 * (a + m)), fr = f(0.5 * (m + b));
    double left = h * (fa + 4.0 * fl + fm), right = h * (fm + 4.0 * fr + fb);
    double error = left + right - whole;
    if (depth == 0 || fabs(error) < 1e-7)
        return left + right + error * (1.0 / 15.0);
    return simpson(a, m, fa, fl, fm, left, depth - 1) + simpson(m, b, fm, fr, fb, right, depth - 1);
}

// Integrals of 1 / (1 + 25 x^2) in intervals that are halved where it is steep.
kernel void integrals(global double *out, global const double *ends)
{
    size_t id = get_global_id(0);
    double a = -1.0, b = ends[id];
    double fa = f(a), fm = f(0.5 * (a + b)), fb = f(b);
    out[id] = simpson(a, b, fa, fm, fb, (b - a) * (1.0 / 6.0) * (fa + 4.0 * fm + fb), 8);
}
