// One kernel with every kind of explicit argument that OpenCL C has a place for, and one without any.
typedef struct { int a, b; float c; } triple;

kernel void args(global float *restrict out, global const float *in, constant uint *table, float scale, uchar small,
                 triple t, local float *tile, local double *wide) {
    size_t i = get_global_id(0);
    size_t l = get_local_id(0);
    tile[l] = in[i] * scale;
    wide[l] = t.c;
    barrier(CLK_LOCAL_MEM_FENCE);
    size_t last = get_local_size(0) - 1;
    out[i] = tile[last - l] + (float)wide[last - l] + (float)(table[small] + t.a - t.b) + get_num_groups(0);
}

kernel __attribute__((reqd_work_group_size(64, 1, 1))) void empty(void) {}
