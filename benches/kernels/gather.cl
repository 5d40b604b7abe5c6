// Reads at random indices, writes in order.
kernel void gather(global float *out, global const float *table, global const uint *indices, uint n)
{
    size_t i = get_global_id(0);
    if (i < n)
        out[i] = table[indices[i]];
}
