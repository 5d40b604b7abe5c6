// What all kernels share: a work-item reads 64-bit slots of a, b and c, whose high bits beyond an
// operand's type are noise, and writes its results to consecutive slots of out.
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#pragma OPENCL EXTENSION cl_khr_fp16 : enable

#define ITEM (__builtin_amdgcn_workgroup_id_x() * 64 + __builtin_amdgcn_workitem_id_x())
#define SLOTS global ulong *out, global const ulong *a, global const ulong *b, global const ulong *c
#define BEGIN(K) \
    uint i = ITEM; \
    out += (ulong)i * (K);

// A float of 16, 32 or 64 bits from and to a slot.
#define f16_in(s) as_half((ushort)(s))
#define f32_in(s) as_float((uint)(s))
#define f64_in(s) as_double((ulong)(s))
#define f16_bits(x) ((ulong)as_ushort(x))
#define f32_bits(x) ((ulong)as_uint(x))
#define f64_bits(x) as_ulong(x)
