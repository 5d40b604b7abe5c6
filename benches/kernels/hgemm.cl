// A product of matrices of halves by packed fused multiply-adds: a work-item makes two columns of
// four rows. Sums stay in half precision. For gfx900 and newer.
#pragma OPENCL EXTENSION cl_khr_fp16 : enable

kernel void hgemm(global half2 *c, global const half *a, global const half2 *b, uint pairs, uint k)
{
    size_t col = get_global_id(0), row = 4 * get_global_id(1);
    half2 sums[4] = { 0, 0, 0, 0 };
    for (uint i = 0; i < k; i++) {
        half2 v = b[i * (size_t)pairs + col];
        #pragma unroll
        for (uint r = 0; r < 4; r++)
            sums[r] = fma((half2)a[(row + r) * k + i], v, sums[r]);
    }
    #pragma unroll
    for (uint r = 0; r < 4; r++)
        c[(row + r) * pairs + col] = sums[r];
}
