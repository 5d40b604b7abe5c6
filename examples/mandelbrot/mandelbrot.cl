// Escape times of z -> z*z + c. Neighbouring lanes leave the loop at different times.
// The view comes as a struct by value.
typedef struct {
    float x0, y0;     // the corner of the view
    float dx, dy;     // the size of a pixel
    uint width, height;
    uint max_iter;
} view_t;

kernel void mandelbrot(global uint *iterations, view_t view)
{
    size_t px = get_global_id(0);
    size_t py = get_global_id(1);
    if (px >= view.width || py >= view.height)
        return;
    float cx = view.x0 + view.dx * (float)(uint)px;
    float cy = view.y0 + view.dy * (float)(uint)py;
    float x = 0.0f, y = 0.0f;
    uint i = 0;
    while (i < view.max_iter) {
        float xx = x * x, yy = y * y;
        if (xx + yy > 4.0f)
            break;
        y = 2.0f * x * y + cy;
        x = xx - yy + cx;
        i++;
    }
    iterations[py * view.width + px] = i;
}
