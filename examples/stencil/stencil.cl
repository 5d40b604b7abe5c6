// Double-precision stencils on the inner points of a 3D grid, x fastest. Launched with a global
// offset of one in each dimension, so that work-items see the coordinates of inner points.

static size_t at(size_t x, size_t y, size_t z, uint nx, uint ny) { return (z * ny + y) * nx + x; }

// One explicit step of the heat equation, seven points.
kernel void heat(global double *out, global const double *in, uint nx, uint ny, uint nz, double c)
{
    size_t x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);
    if (x >= nx - 1 || y >= ny - 1 || z >= nz - 1)
        return;
    size_t i = at(x, y, z, nx, ny);
    size_t dy = nx, dz = (size_t)nx * ny;
    double sum = in[i - 1] + in[i + 1] + in[i - dy] + in[i + dy] + in[i - dz] + in[i + dz];
    out[i] = fma(c, fma(-6.0, in[i], sum), in[i]);
}

// The length of the gradient over the value: multiplications, a square root and a division, each
// correctly rounded.
kernel void slope(global double *out, global const double *in, uint nx, uint ny, uint nz)
{
    size_t x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);
    if (x >= nx - 1 || y >= ny - 1 || z >= nz - 1)
        return;
    size_t i = at(x, y, z, nx, ny);
    size_t dy = nx, dz = (size_t)nx * ny;
    double gx = in[i + 1] - in[i - 1];
    double gy = in[i + dy] - in[i - dy];
    double gz = in[i + dz] - in[i - dz];
    out[i] = sqrt(gx * gx + gy * gy + gz * gz) / in[i];
}
