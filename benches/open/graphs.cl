// Graphs.

kernel void setup_root(global int *levels)
{
    levels[get_global_id(0)] = get_global_id(0) == 0 ? 0 : -1;
}

// One level of a breadth-first search; every vertex has eight edges.
kernel void search_level(global int *levels, global const uint *edges, int level)
{
    size_t v = get_global_id(0);
    if (levels[v] != level)
        return;
    for (int e = 0; e < 8; e++) {
        uint to = edges[8 * v + e];
        if (levels[to] < 0)
            levels[to] = level + 1;
    }
}

// Where the edges of each vertex begin: 1 to 2 * average - 1 each.
kernel void setup_starts(global uint *starts, uint average, uint n)
{
    uint i = (uint)get_global_id(0);
    if (i > n)
        return;
    uint h = i * 2654435761u;
    h = (h ^ h >> 15) * 2246822519u;
    starts[i] = i * average + (i == 0 || i == n ? 0 : (h ^ h >> 13) % average);
}

// One round of ranking: a vertex gets parts of the ranks of those that point to it.
kernel void page_rank(global float *after, global const float *before, global const uint *starts,
                      global const uint *sources, global const float *parts, float damping, uint n)
{
    uint v = (uint)get_global_id(0);
    if (v >= n)
        return;
    float sum = 0.0f;
    for (uint e = starts[v]; e < starts[v + 1]; e++)
        sum += before[sources[e]] * parts[sources[e]];
    after[v] = (1.0f - damping) + damping * sum;
}

// The shortest paths between all of 32 vertices, a graph per workgroup of 16 x 16.
kernel __attribute__((reqd_work_group_size(16, 16, 1)))
void all_paths(global ushort *graphs)
{
    local uint d[32][32];
    int x = get_local_id(0), y = get_local_id(1);
    global ushort *graph = graphs + get_group_id(0) * 1024;
    for (int i = 0; i < 4; i++) {
        int row = y + (i & 1) * 16, column = x + (i >> 1) * 16;
        d[row][column] = row == column ? 0 : graph[row * 32 + column];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < 32; k++) {
        for (int i = 0; i < 4; i++) {
            int row = y + (i & 1) * 16, column = x + (i >> 1) * 16;
            uint way = d[row][k] + d[k][column];
            if (way < d[row][column])
                d[row][column] = way;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    for (int i = 0; i < 4; i++) {
        int row = y + (i & 1) * 16, column = x + (i >> 1) * 16;
        graph[row * 32 + column] = (ushort)d[row][column];
    }
}

// Twelve sorted neighbours of each vertex, all of higher number.
kernel void setup_neighbours(global uint *neighbours)
{
    uint v = (uint)get_global_id(0), to = v;
    for (uint e = 0; e < 12; e++) {
        uint h = (v * 12 + e) * 2654435761u;
        to += 1 + (h >> 20) % 5;
        neighbours[12 * v + e] = to;
    }
}

// Triangles by merging the neighbours of each vertex with those of its neighbours.
kernel void triangles(global uint *counts, global const uint *neighbours, uint n)
{
    uint v = (uint)get_global_id(0), count = 0;
    for (uint e = 0; e < 12; e++) {
        uint w = neighbours[12 * v + e];
        if (w >= n)
            continue;
        uint i = 12 * v + e + 1, j = 12 * w;
        while (i < 12 * v + 12 && j < 12 * w + 12) {
            uint a = neighbours[i], b = neighbours[j];
            if (a == b)
                count++;
            i += a <= b;
            j += b <= a;
        }
    }
    counts[v] = count;
}
