// For the text of traces: loads of the scalar unit, LDS and a barrier, a branch that some lanes take, an
// atomic, and floats of all sizes.
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#pragma OPENCL EXTENSION cl_khr_fp64 : enable

kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void trace(global float *out, global const float *in, global int *count, global half *halves, double scale, int n)
{
    local float tile[64];
    int i = get_global_id(0), l = get_local_id(0);
    tile[l] = i < n ? in[i] : 0.5f;
    barrier(CLK_LOCAL_MEM_FENCE);
    float other = tile[63 - l];
    if (other > 1.0f)
        atomic_add(count, 1);
    halves[i] = (half)other + (half)0.5;
    out[i] = (float)(other * scale);
}
