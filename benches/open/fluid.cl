// A fluid by the lattice of Boltzmann, nine speeds in a plane.
constant int cx[9] = {0, 1, 0, -1, 0, 1, -1, -1, 1};
constant int cy[9] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
constant int back[9] = {0, 3, 4, 1, 2, 7, 8, 5, 6};
constant float share[9] = {4.0f / 9, 1.0f / 9, 1.0f / 9, 1.0f / 9, 1.0f / 9,
                           1.0f / 36, 1.0f / 36, 1.0f / 36, 1.0f / 36};

// What flows in is taken from the neighbours; walls and the outside throw it back.
kernel void lattice(global float *after, global const float *before, global const uchar *walls, int width,
                    int height, float rate)
{
    int x = get_global_id(0), y = get_global_id(1), n = width * height, at = y * width + x;
    float f[9], density = 0.0f, ux = 0.0f, uy = 0.0f;
    for (int i = 0; i < 9; i++) {
        int sx = x - cx[i], sy = y - cy[i];
        bool closed = sx < 0 || sy < 0 || sx >= width || sy >= height || walls[sy * width + sx] > 240;
        f[i] = closed ? before[back[i] * n + at] : before[i * n + sy * width + sx];
        density += f[i];
        ux += f[i] * cx[i];
        uy += f[i] * cy[i];
    }
    ux /= density;
    uy /= density;
    float square = 1.5f * (ux * ux + uy * uy);
    for (int i = 0; i < 9; i++) {
        float along = 3.0f * (cx[i] * ux + cy[i] * uy);
        float rest = share[i] * density * (1.0f + along + 0.5f * along * along - square);
        after[i * n + at] = f[i] + rate * (rest - f[i]);
    }
}
