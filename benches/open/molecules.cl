// Forces between bodies that are near one another.

static float3 force(float4 a, float4 b, float limit)
{
    float3 d = a.xyz - b.xyz;
    float square = d.x * d.x + d.y * d.y + d.z * d.z;
    if (square >= limit || square == 0.0f)
        return (float3)(0.0f, 0.0f, 0.0f);
    float inverse = 1.0f / (square + 0.01f), third = inverse * inverse * inverse;
    return d * (b.w * third * (0.001f * third - 0.5f) * inverse);
}

// Each body with all others up to a distance.
kernel void all_pairs(global float4 *forces, global const float4 *bodies, float limit, int n)
{
    int id = get_global_id(0);
    float4 own = bodies[id];
    float3 sum = (float3)(0.0f, 0.0f, 0.0f);
    for (int i = 0; i < n; i++)
        sum += force(own, bodies[i], limit);
    forces[id] = (float4)(sum, 0.0f);
}

// Bodies of a cube of cells: 0 to 8 in each.
kernel void setup_cells(global float4 *bodies, global uint *counts, global const float *numbers, int size)
{
    int cell = get_global_id(0);
    uint h = (uint)cell * 2654435761u;
    counts[cell] = (h >> 16) % 9;
    for (int i = 0; i < 8; i++) {
        global const float *r = numbers + 3 * (8 * cell + i);
        bodies[8 * cell + i] = (float4)(cell % size + r[0], cell / size % size + r[1],
                                        cell / (size * size) + r[2], 1.0f);
    }
}

// Each body with those of its own cell and of the 26 around it; eight work-items per cell.
kernel void cells(global float4 *forces, global const float4 *bodies, global const uint *counts, int size,
                  float limit)
{
    int id = get_global_id(0), cell = id / 8;
    if (id % 8 >= counts[cell]) {
        forces[id] = (float4)(0.0f, 0.0f, 0.0f, 0.0f);
        return;
    }
    int x = cell % size, y = cell / size % size, z = cell / (size * size);
    float4 own = bodies[id];
    float3 sum = (float3)(0.0f, 0.0f, 0.0f);
    for (int k = max(z - 1, 0); k <= min(z + 1, size - 1); k++) {
        for (int j = max(y - 1, 0); j <= min(y + 1, size - 1); j++) {
            for (int i = max(x - 1, 0); i <= min(x + 1, size - 1); i++) {
                int other = (k * size + j) * size + i;
                for (uint b = 0; b < counts[other]; b++)
                    sum += force(own, bodies[8 * other + b], limit);
            }
        }
    }
    forces[id] = (float4)(sum, 0.0f);
}
