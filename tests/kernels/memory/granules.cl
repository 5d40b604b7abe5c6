// LDS beyond what the kernel states, but within what the hardware allocates: 256 bytes on gfx6, 512 on later ones.

// 256 bytes, elements `shift` to `shift + 63`.
kernel void stated(global uint *out, uint shift)
{
    local uint a[64];
    uint lid = get_local_id(0);
    a[lid + shift] = lid * 3 + 1;
    barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(0)] = a[63 - lid + shift];
}

// The same with what the launch gives.
kernel void given(global uint *out, local uint *a, uint shift)
{
    uint lid = get_local_id(0);
    a[lid + shift] = lid * 3 + 1;
    barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(0)] = a[63 - lid + shift];
}

#if __OPENCL_C_VERSION__ >= 200 && !defined(__gfx600__)
// Through generic addresses: nothing is known of the pointer.
kernel void generic_stated(global uint *out, uint shift)
{
    local uint a[64];
    uint lid = get_local_id(0);
    // A DS instruction, for which gfx7 and gfx8 set M0; clang does not for FLAT ones.
    a[lid] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    uint *p = shift == ~0u ? (uint *)out : (uint *)a;
    p[lid + shift] = lid * 3 + 1;
    barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(0)] = p[63 - lid + shift];
}
#endif
