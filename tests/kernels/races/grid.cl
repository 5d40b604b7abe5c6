// Workgroups whose regions of global memory overlap. Nothing orders the workgroups of a dispatch.
#include "pair.h"

// Each workgroup stores one element too many.
kernel void NAME(store_halo)(const global uint *x, global uint *y) {
    uint first = get_group_id(0) * 128;
    for (uint k = get_local_id(0); k < EITHER(129, 128); k += 64)
        y[first + k] = x[first + k] + get_group_id(0);
}

kernel void NAME(stencil_in_place)(const global uint *x, global uint *y, global uint *cells) {
    uint i = get_global_id(0), n = get_global_size(0);
    const global uint *from = EITHER(cells, x);
    cells[i] = from[i] + from[(i + 1) % n] + from[(i + n - 1) % n];
    y[i] = cells[i];
}

kernel void NAME(shift_in_place)(global uint *y, const global uint *x) {
    uint i = get_global_id(0);
    if (i + 1 < get_global_size(0))
        y[i] = EITHER(y, x)[i + 1];
}

kernel void NAME(reverse_in_place)(global uint *y) {
    uint i = get_global_id(0), n = get_global_size(0), other = n - 1 - i;
#ifdef RACY
    y[other] = y[i];
#else
    if (i < other) {
        uint value = y[i];
        y[i] = y[other];
        y[other] = value;
    }
#endif
}

// Each workgroup adds what the one before it has stored.
kernel void NAME(running_sum)(const global uint *x, global uint *y) {
    uint group = get_group_id(0);
    if (get_local_id(0) == 0) {
        uint sum = x[group];
#ifdef RACY
        if (group > 0)
            sum += y[group - 1];
#else
        for (uint k = 0; k < group; k++)
            sum += x[k];
#endif
        y[group] = sum;
    }
}

// Rows of 65 partial sums, stored with a stride of 64.
kernel void NAME(row_stride)(const global uint *x, global uint *y) {
    global uint *row = y + get_group_id(0) * EITHER(64, 65);
    uint l = get_local_id(0);
    row[l] = x[get_global_id(0)];
    if (l == 63)
        row[64] = get_group_id(0);
}

// Tiles of 16 by 16 of an image whose width in memory is one pixel less than the tiles take.
kernel void NAME(image_rows)(const global uint *x, global uint *y) {
    uint c = get_global_id(0), r = get_global_id(1), width = get_global_size(0);
    y[r * (width - EITHER(1, 0)) + c] = x[r * width + c];
}

// Transposes a matrix of 32 by 32 where it is.
kernel void NAME(transpose_in_place)(global uint *y) {
    uint c = get_global_id(0), r = get_global_id(1);
    if (EITHER(c != r, c < r)) {
        uint value = y[r * 32 + c];
        EITHER((void)0, y[r * 32 + c] = y[c * 32 + r]);
        y[c * 32 + r] = value;
    }
}

#ifdef RACY
struct cell {
    uint mass, speed;
};
#endif

// Workgroups of even number have the masses, those of odd number the speeds, of the same cells.
kernel void NAME(field)(const global uint *x, global struct cell *y) {
    uint l = get_local_id(0), group = get_group_id(0);
    global struct cell *cell = &y[group / 2 * 64 + l];
#ifdef RACY
    struct cell value = *cell;
    if (group % 2)
        value.speed = x[l];
    else
        value.mass = x[l] + 1;
    *cell = value;
#else
    if (group % 2)
        cell->speed = x[l];
    else
        cell->mass = x[l] + 1;
#endif
}

// The first workgroup clears what all add to.
kernel void NAME(clear_and_add)(const global uint *x, global uint *y) {
    uint l = get_local_id(0);
    EITHER(if (get_group_id(0) == 0) y[l] = 0, (void)0);
    atomic_add(&y[l], x[get_global_id(0)]);
}

// The game of life on a torus of 16 by 16, in place.
kernel void NAME(life)(const global uint *x, global uint *y) {
    uint c = get_global_id(0), r = get_global_id(1), alive = 0;
    const global uint *from = EITHER(y, x);
    for (uint k = 0; k < 9; k++)
        alive += k == 4 ? 0 : from[(r + 15 + k / 3) % 16 * 16 + (c + 15 + k % 3) % 16] & 1;
    y[r * 16 + c] = alive == 3 || (alive == 2 && (from[r * 16 + c] & 1));
}

// Buffer instructions: the descriptors of neighbours overlap by 64 bytes.
kernel void NAME(buffer_overlap)(const global uint *x, global uint *y) {
    __amdgpu_buffer_rsrc_t part =
        __builtin_amdgcn_make_buffer_rsrc(y + get_group_id(0) * EITHER(48, 64), 0, 256, 0x00027000);
    __builtin_amdgcn_raw_buffer_store_b32(x[get_global_id(0)], part, get_local_id(0) * 4, 0, 0);
}

// Buffer instructions: a load of what the next workgroup stores.
kernel void NAME(buffer_neighbour)(const global uint *x, global uint *y) {
    uint i = get_global_id(0), n = get_global_size(0);
    __amdgpu_buffer_rsrc_t to = __builtin_amdgcn_make_buffer_rsrc(y, 0, n * 4, 0x00027000);
    __amdgpu_buffer_rsrc_t from =
        __builtin_amdgcn_make_buffer_rsrc(EITHER(y, (global uint *)x), 0, n * 4, 0x00027000);
    uint next = __builtin_amdgcn_raw_buffer_load_b32(from, (i + 64) % n * 4, 0, 0);
    __builtin_amdgcn_raw_buffer_store_b32(next + 1, to, i * 4, 0, 0);
}

// Pointers to LDS or to global memory, by parity of the lane: those to global memory are the same for all workgroups.
kernel void NAME(generic_groups)(const global uint *x, global uint *y, global uint *scratch) {
    local uint tile[64];
    uint l = get_local_id(0), i = get_global_id(0);
    uint *mine = x[l] % 2 ? (uint *)tile : (uint *)(scratch + EITHER(0, get_group_id(0) * 64));
    tile[l] = 1;
    mine[l] = x[i];
    y[i] = mine[l] + tile[l];
}
