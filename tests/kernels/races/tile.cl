// Tiles in LDS: what one wave writes and another reads or overwrites without a barrier between.
#include "pair.h"

kernel void NAME(tile_reverse)(const global uint *x, global uint *y) {
    local uint tile[128];
    uint l = get_local_id(0), i = get_global_id(0);
    tile[l] = x[i];
    REPAIR(barrier(CLK_LOCAL_MEM_FENCE);)
    y[i] = tile[127 - l];
}

// The next iteration overwrites what a slower wave still reads.
kernel void NAME(tile_loop_end)(const global uint *x, global uint *y) {
    local uint tile[128];
    uint l = get_local_id(0), i = get_global_id(0), sum = 0;
    for (uint k = 0; k < 4; k++) {
        tile[l] = x[k * get_global_size(0) + i];
        barrier(CLK_LOCAL_MEM_FENCE);
        sum += (k + 1) * tile[(l + 64) % 128];
        REPAIR(barrier(CLK_LOCAL_MEM_FENCE);)
    }
    y[i] = sum;
}

// The only barrier is at the end of the loop, not between the store and the load.
kernel void NAME(tile_loop_start)(const global uint *x, global uint *y) {
    local uint tile[128];
    uint l = get_local_id(0), i = get_global_id(0), sum = 0;
    for (uint k = 0; k < 4; k++) {
        tile[l] = x[k * get_global_size(0) + i];
        REPAIR(barrier(CLK_LOCAL_MEM_FENCE);)
        sum += (k + 1) * tile[(l + 64) % 128];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    y[i] = sum;
}

// One barrier an iteration is enough only if the tiles alternate.
kernel void NAME(double_buffer)(const global uint *x, global uint *y) {
    local uint tiles[2][128];
    uint l = get_local_id(0), i = get_global_id(0), sum = 0;
    for (uint k = 0; k < 6; k++) {
        local uint *tile = tiles[EITHER(k / 2, k) % 2];
        tile[l] = x[i] + k;
        barrier(CLK_LOCAL_MEM_FENCE);
        sum += (k + 1) * tile[127 - l];
    }
    y[i] = sum;
}

// Prefetches into the tile that the other wave reads.
kernel void NAME(prefetch)(const global uint *x, global uint *y) {
    local uint tiles[2][128];
    uint l = get_local_id(0), i = get_global_id(0), n = get_global_size(0), sum = 0;
    tiles[0][l] = x[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint k = 0; k < 4; k++) {
        tiles[(EITHER(k, k + 1)) % 2][127 - l] = x[(k + 1) * n + i];
        sum += tiles[k % 2][l] * (k + 1);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    y[i] = sum;
}

// Workgroups of 16 by 16 transpose a tile; the barrier is in front of the store.
kernel void NAME(transpose)(const global uint *x, global uint *y) {
    local uint tile[16][17];
    uint c = get_local_id(0), r = get_local_id(1), first = get_group_id(0) * 256;
    EITHER(barrier(CLK_LOCAL_MEM_FENCE), (void)0);
    tile[r][c] = x[first + r * 16 + c];
    REPAIR(barrier(CLK_LOCAL_MEM_FENCE);)
    y[first + r * 16 + c] = tile[c][r];
}

// Multiplies matrices of 32 by 32 in tiles of 16 by 16.
kernel void NAME(matrix_tile)(const global uint *a, const global uint *b, global uint *y) {
    local uint at[16][16], bt[16][16];
    uint c = get_local_id(0), r = get_local_id(1), column = get_global_id(0), row = get_global_id(1);
    uint sum = 0;
    for (uint k = 0; k < 32; k += 16) {
        at[r][c] = a[row * 32 + k + c];
        bt[r][c] = b[(k + r) * 32 + column];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint j = 0; j < 16; j++)
            sum += at[r][j] * bt[j][c];
        REPAIR(barrier(CLK_LOCAL_MEM_FENCE);)
    }
    y[row * 32 + column] = sum;
}

// The halo comes after the barrier that is to cover it.
kernel void NAME(stencil_halo)(const global uint *x, global uint *y) {
    local uint tile[130];
    uint l = get_local_id(0), i = get_global_id(0), n = get_global_size(0);
    tile[l + 1] = x[i];
    EITHER(barrier(CLK_LOCAL_MEM_FENCE), (void)0);
    if (l == 0) {
        tile[0] = i == 0 ? 0 : x[i - 1];
        tile[129] = i + 128 < n ? x[i + 128] : 0;
    }
    REPAIR(barrier(CLK_LOCAL_MEM_FENCE);)
    y[i] = tile[l] + tile[l + 1] + tile[l + 2];
}

// Smooths in place: the first lane of wave 1 reads what the last lane of wave 0 writes.
kernel void NAME(wave_border)(const global uint *x, global uint *y) {
    local uint tile[128];
    uint l = get_local_id(0), i = get_global_id(0);
    tile[l] = x[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    uint left = l == 0 ? 0 : tile[l - 1];
    REPAIR(barrier(CLK_LOCAL_MEM_FENCE);)
    tile[l] += left;
    barrier(CLK_LOCAL_MEM_FENCE);
    y[i] = tile[l];
}

kernel void NAME(broadcast)(const global uint *x, global uint *y) {
    local uint first;
    uint l = get_local_id(0), i = get_global_id(0);
    if (l == 0)
        first = x[i];
    REPAIR(barrier(CLK_LOCAL_MEM_FENCE);)
    y[i] = x[i] - first;
}

// The pivot of an elimination step, which changes with each step.
kernel void NAME(pivot)(const global uint *x, global uint *y) {
    local uint pivot;
    uint l = get_local_id(0), i = get_global_id(0), value = x[i];
    for (uint k = 0; k < 128; k += 32) {
        if (l == k)
            pivot = value;
        barrier(CLK_LOCAL_MEM_FENCE);
        value ^= pivot + k;
        REPAIR(barrier(CLK_LOCAL_MEM_FENCE);)
    }
    y[i] = value;
}

kernel void NAME(tile_b128)(const global uint4 *x, global uint4 *y) {
    local uint4 tile[128];
    uint l = get_local_id(0), i = get_global_id(0);
    tile[l] = x[i];
    REPAIR(barrier(CLK_LOCAL_MEM_FENCE);)
    y[i] = tile[(l + 64) % 128].wzyx;
}

// One LDS array serves two purposes, one after the other.
kernel void NAME(tile_reuse)(const global uint *x, global uint *y) {
    local uint memory[256];
    uint l = get_local_id(0), i = get_global_id(0);
    memory[l] = x[i];
    memory[l + 128] = x[i] + 1;
    barrier(CLK_LOCAL_MEM_FENCE);
    uint sum = memory[127 - l] + memory[255 - l];
    REPAIR(barrier(CLK_LOCAL_MEM_FENCE);)
    memory[2 * l] = sum;
    memory[2 * l + 1] = l;
    barrier(CLK_LOCAL_MEM_FENCE);
    y[i] = memory[(2 * l + 128) % 256] + memory[(2 * l + 129) % 256];
}
