// For coverage: conditions that differ by lane, a loop among them, and two of the wave, on SCC and on VCC.
// The tests name lines of this file.
#define KERNEL __attribute__((global))

KERNEL void branches(int *out, int limit, int mode, float scale)
{
    int i = __builtin_amdgcn_workgroup_id_x() * 64 + __builtin_amdgcn_workitem_id_x();
    int value = i;
    if (i >= limit)
        return;
    if (i & 1)
        for (int k = 0; k < i; k++)
            value += out[k];
    else
        value = out[i] * 2;
    if (mode == 1)
        out[i + 2048] = 1;
    if (scale > 1.0f)
        out[i + 3072] = 1;
    out[i + 1024] = value;
}

KERNEL void never(int *out)
{
    out[0] = 1;
}
