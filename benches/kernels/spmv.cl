// A sparse matrix in compressed rows times a vector: one row per work-item, so that neighbouring
// lanes read apart and leave the loop at different times.

// Row starts such that rows have 1 to 2*average - 1 entries, `average` in the mean.
kernel void setup_rows(global uint *starts, uint average, uint n)
{
    size_t i = get_global_id(0);
    if (i > n)
        return;
    uint h = (uint)i * 2654435761u;
    h = (h ^ h >> 15) * 2246822519u;
    h ^= h >> 13;
    starts[i] = (uint)i * average + (i == 0 || i == n ? 0 : h % average);
}

kernel void spmv(global float *y, global const uint *starts, global const uint *columns,
                 global const float *values, global const float *x, uint n)
{
    size_t i = get_global_id(0);
    if (i >= n)
        return;
    float sum = 0.0f;
    uint end = starts[i + 1];
    for (uint k = starts[i]; k < end; k++)
        sum = fma(values[k], x[columns[k]], sum);
    y[i] = sum;
}
