// Linear algebra in double precision.
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#define N 6

// Systems of six equations by elimination with pivots, one per work-item.
kernel void lu_solve(global double *solutions, global const double *matrices, global const double *sides)
{
    size_t id = get_global_id(0);
    double m[N][N], x[N];
    for (int i = 0; i < N; i++) {
        for (int j = 0; j < N; j++)
            m[i][j] = matrices[(id * N + i) * N + j];
        x[i] = sides[id * N + i];
    }
    for (int k = 0; k < N; k++) {
        int pivot = k;
        for (int i = k + 1; i < N; i++)
            if (fabs(m[i][k]) > fabs(m[pivot][k]))
                pivot = i;
        for (int j = k; j < N; j++) {
            double t = m[k][j];
            m[k][j] = m[pivot][j];
            m[pivot][j] = t;
        }
        double t = x[k];
        x[k] = x[pivot];
        x[pivot] = t;
        for (int i = k + 1; i < N; i++) {
            double factor = m[i][k] / m[k][k];
            for (int j = k; j < N; j++)
                m[i][j] -= factor * m[k][j];
            x[i] -= factor * x[k];
        }
    }
    for (int i = N - 1; i >= 0; i--) {
        for (int j = i + 1; j < N; j++)
            x[i] -= m[i][j] * x[j];
        x[i] /= m[i][i];
    }
    for (int i = 0; i < N; i++)
        solutions[id * N + i] = x[i];
}

// Eigenvalues of symmetric 4 x 4 matrices by Jacobi's rotations.
kernel void eigenvalues(global double4 *out, global const double *matrices, int sweeps)
{
    size_t id = get_global_id(0);
    double a[4][4];
    for (int i = 0; i < 4; i++)
        for (int j = 0; j <= i; j++)
            a[i][j] = a[j][i] = matrices[id * 16 + i * 4 + j];
    for (int sweep = 0; sweep < sweeps; sweep++) {
        for (int p = 0; p < 3; p++) {
            for (int q = p + 1; q < 4; q++) {
                if (fabs(a[p][q]) < 1e-14)
                    continue;
                double theta = (a[q][q] - a[p][p]) / (2.0 * a[p][q]);
                double t = 1.0 / (fabs(theta) + sqrt(theta * theta + 1.0));
                if (theta < 0.0)
                    t = -t;
                double c = 1.0 / sqrt(t * t + 1.0), s = t * c;
                for (int k = 0; k < 4; k++) {
                    double x = a[k][p], y = a[k][q];
                    a[k][p] = c * x - s * y;
                    a[k][q] = s * x + c * y;
                }
                for (int k = 0; k < 4; k++) {
                    double x = a[p][k], y = a[q][k];
                    a[p][k] = c * x - s * y;
                    a[q][k] = s * x + c * y;
                }
            }
        }
    }
    out[id] = (double4)(a[0][0], a[1][1], a[2][2], a[3][3]);
}

#define TILE 16

// A product of matrices through tiles in local memory.
kernel void dgemm(global double *c, global const double *a, global const double *b, int n)
{
    local double at[TILE][TILE], bt[TILE][TILE];
    int x = get_local_id(0), y = get_local_id(1);
    int column = get_global_id(0), row = get_global_id(1);
    double sum = 0.0;
    for (int k = 0; k < n; k += TILE) {
        at[y][x] = a[row * n + k + x];
        bt[y][x] = b[(k + y) * n + column];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int i = 0; i < TILE; i++)
            sum += at[y][i] * bt[i][x];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    c[row * n + column] = sum;
}

// Tridiagonal systems, one per work-item; a system's numbers lie apart so that neighbours' lie together.
kernel void tridiagonal(global double *x, global double *scratch, global const double *lower,
                        global const double *upper, int length)
{
    size_t id = get_global_id(0), n = get_global_size(0);
    double before = 0.0, value = 0.0;
    for (int i = 0; i < length; i++) {
        size_t at = i * n + id;
        double pivot = 1.0 / (4.0 - lower[at] * before);
        before = upper[at] * pivot;
        value = (x[at] - lower[at] * value) * pivot;
        scratch[at] = before;
        x[at] = value;
    }
    for (int i = length - 2; i >= 0; i--) {
        size_t at = i * n + id;
        value = x[at] - scratch[at] * value;
        x[at] = value;
    }
}
