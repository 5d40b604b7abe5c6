// Calls of functions that are not inlined, and through pointers.

static __attribute__((noinline)) float line(float x) { return 0.5f * x + 0.25f; }
static __attribute__((noinline)) float parabola(float x) { return x * x - 0.5f; }
static __attribute__((noinline)) float cubic(float x) { return x * (x * x - 0.75f); }
static __attribute__((noinline)) float jump(float x) { return x < 0.0f ? -0.5f : 0.5f; }

// Pointers to functions where clang has them; a switch elsewhere, with the same results.
#ifdef __AMDGCN__
#pragma OPENCL EXTENSION __cl_clang_function_pointers : enable
typedef float (*curve)(float);

static curve curve_of(uint kind)
{
    switch (kind & 3) {
    case 0: return line;
    case 1: return parabola;
    case 2: return cubic;
    default: return jump;
    }
}

#define CALL(curve, x) curve(x)
#else
typedef uint curve;
#define curve_of(kind) ((kind) & 3)

static float CALL(curve kind, float x)
{
    switch (kind) {
    case 0: return line(x);
    case 1: return parabola(x);
    case 2: return cubic(x);
    default: return jump(x);
    }
}
#endif

// Applies two functions in turn, which differ from work-item to work-item.
kernel void pointers(global float *values, global const uchar *kinds, int turns)
{
    size_t id = get_global_id(0);
    curve first = curve_of(kinds[id]), second = curve_of(kinds[id] >> 2);
    float x = values[id];
    for (int turn = 0; turn < turns; turn++)
        x = CALL(second, CALL(first, x));
    values[id] = x;
}
