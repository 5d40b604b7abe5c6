// Sorting and merging.
#define SWAP(i, j) { uint low = min(v[i], v[j]); v[j] = max(v[i], v[j]); v[i] = low; }

// Batcher's network over 16 numbers, one row per work-item.
kernel void network(global uint *rows)
{
    size_t base = get_global_id(0) * 16;
    uint v[16];
    for (int i = 0; i < 16; i++)
        v[i] = rows[base + i];
    #pragma unroll
    for (int p = 1; p < 16; p *= 2)
        #pragma unroll
        for (int k = p; k > 0; k /= 2)
            #pragma unroll
            for (int j = k % p; j < 16 - k; j += 2 * k)
                #pragma unroll
                for (int i = 0; i < k; i++)
                    if ((i + j) / (2 * p) == (i + j + k) / (2 * p) && i + j + k < 16)
                        SWAP(i + j, i + j + k)
    for (int i = 0; i < 16; i++)
        rows[base + i] = v[i];
}

// Blocks of 512 keys with a value each, sorted in local memory by odd-even merging.
kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void odd_even(global uint *keys, global uint *values)
{
    local uint k[512], v[512];
    uint id = get_local_id(0);
    size_t base = get_group_id(0) * 512;
    for (uint i = id; i < 512; i += 256) {
        k[i] = keys[base + i];
        v[i] = values[base + i];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint size = 2; size <= 512; size *= 2) {
        uint stride = size / 2, offset = id & (stride - 1);
        uint at = 2 * id - offset;
        if (k[at] > k[at + stride]) {
            uint t = k[at]; k[at] = k[at + stride]; k[at + stride] = t;
            t = v[at]; v[at] = v[at + stride]; v[at + stride] = t;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        for (stride /= 2; stride > 0; stride /= 2) {
            at = 2 * id - (id & (stride - 1));
            if (offset >= stride && k[at - stride] > k[at]) {
                uint t = k[at]; k[at] = k[at - stride]; k[at - stride] = t;
                t = v[at]; v[at] = v[at - stride]; v[at - stride] = t;
            }
            barrier(CLK_LOCAL_MEM_FENCE);
        }
    }
    for (uint i = id; i < 512; i += 256) {
        keys[base + i] = k[i];
        values[base + i] = v[i];
    }
}

// Sorted lists with random gaps.
kernel void setup_sorted(global uint *a, global uint *b)
{
    uint i = (uint)get_global_id(0);
    uint h = i * 2654435761u;
    a[i] = 8 * i + (h >> 29);
    b[i] = 8 * i + (h >> 7 & 7);
}

// Merges two sorted lists: each work-item finds where its 16 results begin, then takes them in turn.
kernel void merge_path(global uint *out, global const uint *a, global const uint *b, uint n)
{
    uint diagonal = (uint)get_global_id(0) * 16;
    uint low = diagonal > n ? diagonal - n : 0, high = min(diagonal, n);
    while (low < high) {
        uint middle = (low + high) / 2;
        if (a[middle] <= b[diagonal - 1 - middle])
            low = middle + 1;
        else
            high = middle;
    }
    uint i = low, j = diagonal - low;
    for (uint k = 0; k < 16; k++)
        out[diagonal + k] = j >= n || (i < n && a[i] <= b[j]) ? a[i++] : b[j++];
}
