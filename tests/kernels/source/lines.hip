// For source lines: a template kernel, a function in its own code, and two that are inlined into each
// other. The tests name lines of this file.
#define KERNEL __attribute__((global))
#define DEVICE __attribute__((device))

template <typename T>
static DEVICE inline T square(T x)
{
    return x * x;
}

template <typename T>
static DEVICE inline T norm(T x, T y)
{
    T sum = square(x);
    sum += square(y);
    return sum;
}

namespace filter {

struct Range {
    int low, high;
};

__attribute__((noinline)) DEVICE int clamp(int x, Range range)
{
    if (x < range.low)
        return range.low;
    return x > range.high ? range.high : x;
}

}

template <typename T>
KERNEL void norms(T *out, const T *in, int n)
{
    int i = __builtin_amdgcn_workgroup_id_x() * 64 + __builtin_amdgcn_workitem_id_x();
    T sum = 0;
    for (int k = 0; k < n; k++)
        sum += norm(in[k], in[i]);
    int at = filter::clamp(i, filter::Range{0, n - 1});
    out[at] = sum;
}

template KERNEL void norms<float>(float *, const float *, int);
