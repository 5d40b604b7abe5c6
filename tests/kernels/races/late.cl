// Stores by late workgroups to what all others only read: those who check less where nobody stores must notice them.
#include "pair.h"

kernel void NAME(late_store)(global uint *x, global uint *y) {
    uint l = get_local_id(0), i = get_global_id(0);
    uint value = x[l];
    if (get_group_id(0) == 6) {
#ifdef RACY
        x[l] = value + 1;
#else
        x[128 + l] = value + 1;
#endif
    }
    y[i] = value;
}

kernel void NAME(late_tile)(const global uint *x, global uint *y) {
    // Volatile, since LLVM 19 moves the load behind the second barrier otherwise.
    volatile local uint tile[128];
    uint l = get_local_id(0), i = get_global_id(0);
    tile[l] = x[i % 512];
    barrier(CLK_LOCAL_MEM_FENCE);
    uint value = tile[127 - l];
    REPAIR(barrier(CLK_LOCAL_MEM_FENCE);)
    if (get_group_id(0) >= 300)
        tile[l] = value + 1;
    y[i] = value + tile[l];
}
