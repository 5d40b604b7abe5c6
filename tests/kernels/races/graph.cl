// Graphs, particles and lists in global memory.
#include "pair.h"

#ifdef RACY
// Where an edge leads: n edges make a ring of the nodes, n are chords.
static uint head(uint edge, uint n) {
    return edge < n ? (edge + 1) % n : (edge * 7) % n;
}
#endif

// Hooks the greater root to the smaller one.
kernel void NAME(union_roots)(global uint *y) {
    uint edge = get_global_id(0), a = edge % 64, b = head(edge, 64);
    if (a != b)
        EITHER(y[max(a, b)] = min(a, b), atomic_min(&y[max(a, b)], min(a, b)));
}

// Nodes of a level store themselves as the parents of the next level's nodes.
kernel void NAME(search_parents)(const global uint *x, global uint *y) {
    uint edge = get_global_id(0), parent = x[edge] % 128, child = head(edge, 64);
    EITHER(y[child] = parent, atomic_min(&y[child], parent));
}

// Visits a node if nobody has, and counts the visits.
kernel void NAME(search_visit)(const global uint *x, global uint *y, global uint *visited) {
    uint node = x[get_global_id(0)] % 64;
#ifdef RACY
    bool first = !visited[node];
    visited[node] = 1 + get_group_id(0);
#else
    bool first = !atomic_cmpxchg(&visited[node], 0, 1 + get_group_id(0));
#endif
    if (first)
        atomic_inc(&y[node]);
}

kernel void NAME(relax)(const global uint *x, global uint *y) {
    uint edge = get_global_id(0), to = head(edge, 64), distance = x[edge] + edge % 64;
    EITHER(y[to] = min(y[to], distance), atomic_min(&y[to], distance));
}

kernel void NAME(degrees)(global uint *y) {
    uint edge = get_global_id(0), a = edge % 64, b = head(edge, 64);
#ifdef RACY
    y[a]++;
    y[b]++;
#else
    atomic_inc(&y[a]);
    atomic_inc(&y[b]);
#endif
}

// Puts particles into cells of at most 128.
kernel void NAME(cells)(const global uint *x, global uint *y, global uint *members) {
    uint i = get_global_id(0), cell = x[i] % 8;
    uint place = EITHER(y[cell]++, atomic_inc(&y[cell]));
    members[cell * 128 + place % 128] = i;
}

// The same with linked lists.
kernel void NAME(cell_lists)(const global uint *x, global uint *heads, global uint *next) {
    uint i = get_global_id(0), cell = x[i] % 8;
#ifdef RACY
    next[i] = heads[cell];
    heads[cell] = i + 1;
#else
    next[i] = atomic_xchg(&heads[cell], i + 1);
#endif
}

#ifdef RACY
// The lengths of these lists.
kernel void list_lengths(global uint *heads, const global uint *next) {
    uint length = 0;
    for (uint i = heads[get_local_id(0)]; i; i = next[i - 1])
        length++;
    heads[get_local_id(0)] = length;
}
#endif

// Nodes take the least colour that neighbours on a ring do not have.
kernel void NAME(colours)(const global uint *x, global uint *y) {
    uint i = get_global_id(0), n = get_global_size(0);
    const global uint *colours = EITHER(y, x);
    uint left = colours[(i + n - 1) % n], right = colours[(i + 1) % n], mine = 0;
    while (mine == left || mine == right)
        mine++;
    y[i] = mine;
}

// Labels spread along a ring.
kernel void NAME(labels)(const global uint *x, global uint *y) {
    uint i = get_global_id(0), n = get_global_size(0);
    y[i] = min(EITHER(y, x)[(i + 64) % n], x[i]);
}
