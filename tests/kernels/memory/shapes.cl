// Kernels whose addresses, compares, loops and masks depend on all numbers of a work-item.

struct place {
    uint x, y, z; // in the grid
    uint at;      // number in the grid, x fastest
};

static struct place here(uint width, uint height)
{
    struct place p;
    p.x = (uint)get_global_id(0);
    p.y = (uint)get_global_id(1);
    p.z = (uint)get_global_id(2);
    p.at = (p.z * height + p.y) * width + p.x;
    return p;
}

// A loop around what was loaded at the work-item's place.
kernel void relax(global const float *in, global float *out, uint width, uint height, uint n)
{
    struct place p = here(width, height);
    float a = in[p.at];
    for (uint k = 0; k < n; k++)
        a = a * 0.5f + 1.0f;
    out[p.at] = a;
}

// The same with the numbers in the workgroup only: all workgroups store the same.
kernel void relax_local(global const float *in, global float *out, uint width, uint height, uint n)
{
    uint at = (uint)((get_local_id(2) * height + get_local_id(1)) * width + get_local_id(0));
    float a = in[at];
    for (uint k = 0; k < n; k++)
        a = a * 0.5f + 1.0f;
    out[at] = a;
}

// Compares, masks and loops that go on for as long as the numbers say.
kernel void mixed(global const uint *in, global uint *out, uint width, uint height, uint n)
{
    struct place p = here(width, height);
    uint lx = (uint)get_local_id(0), ly = (uint)get_local_id(1), lz = (uint)get_local_id(2);
    uint a = 0;
    if (lx < n)
        a += in[p.at];
    if (ly > (n & 3))
        a ^= lx * 5 + ly * 3 + lz;
    else if (lz)
        a += (uint)get_group_id(0) + (uint)get_group_id(1) * 7 + (uint)get_group_id(2) * 77;
    for (uint k = 0; k < (lx & 3) + (ly & 1); k++)
        a = a * 3 + in[k];
    uint neighbour = in[p.at ^ 1 ^ (ly & 2)];
    out[p.at] = a ^ neighbour;
}

// Each row of the workgroup by its own column, through LDS.
kernel void turned(global const uint *in, global uint *out, uint width, uint height, uint n)
{
    local uint tile[1024];
    struct place p = here(width, height);
    uint w = (uint)get_local_size(0), h = (uint)get_local_size(1);
    uint lx = (uint)get_local_id(0), ly = (uint)get_local_id(1), lz = (uint)get_local_id(2);
    uint first = lz * w * h;
    tile[first + ly * w + lx] = in[p.at] + n;
    barrier(CLK_LOCAL_MEM_FENCE);
    uint at = lx * h + ly;
    out[p.at] = tile[first + (w - 1 - at % w) + at / w * w];
}
