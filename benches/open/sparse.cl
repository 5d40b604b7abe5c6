// Sparse matrices times vectors in three formats.

// Padded rows, column by column; padding has column -1.
kernel void ellpack(global float *y, global const int *columns, global const float *values,
                    global const float *x, int width, int rows)
{
    int row = get_global_id(0);
    if (row >= rows)
        return;
    float sum = 0.0f;
    for (int k = 0; k < width; k++) {
        int column = columns[k * rows + row];
        if (column >= 0)
            sum += values[k * rows + row] * x[column];
    }
    y[row] = sum;
}

// Blocks of 4 x 4, as many in each row of blocks; a work-item makes one result.
kernel void blocks(global float *y, global const uint *columns, global const float *values,
                   global const float *x, int width)
{
    size_t row = get_global_id(0), block_row = row / 4, inside = row % 4;
    float sum = 0.0f;
    for (int k = 0; k < width; k++) {
        size_t block = block_row * width + k;
        uint column = columns[block] * 4;
        for (int j = 0; j < 4; j++)
            sum += values[block * 16 + inside * 4 + j] * x[column + j];
    }
    y[row] = sum;
}

// Single entries in any order, of integers, added up by atomics.
kernel void coordinates(global int *y, global const uint *rows, global const uint *columns,
                        global const short *values, global const short *x)
{
    size_t id = get_global_id(0);
    atomic_add(&y[rows[id]], values[id] * x[columns[id]]);
}
