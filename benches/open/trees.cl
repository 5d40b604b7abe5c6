// Searches in sorted lists and trees.

kernel void setup_list(global uint *list)
{
    uint i = (uint)get_global_id(0);
    list[i] = 16 * i + (i * 2654435761u >> 28);
}

// The first place in a sorted list whose number is not smaller.
kernel void lower_bound(global uint *out, global const uint *list, uint n, global const uint *queries)
{
    size_t id = get_global_id(0);
    uint query = queries[id], low = 0, high = n;
    while (low < high) {
        uint middle = (low + high) / 2;
        if (list[middle] < query)
            low = middle + 1;
        else
            high = middle;
    }
    out[id] = low;
}

// The longest prefix of an address in a trie of 16 children per node; an odd child is a result.
kernel void prefixes(global uint *out, global const uint *children, uint nodes, global const uint *addresses)
{
    size_t id = get_global_id(0);
    uint address = addresses[id], node = 0, result = 0;
    for (int depth = 0; depth < 8; depth++) {
        uint child = children[node * 16 + (address >> 28)];
        address <<= 4;
        if ((child & 7) == 1) {
            result = child >> 3 | (uint)depth << 29;
            break;
        }
        node = (child >> 3) % nodes;
    }
    out[id] = result;
}

typedef struct {
    float low[3], high[3];
} bounds;

static float hashed(uint x)
{
    x = (x ^ x >> 16) * 0x45d9f3bu;
    x = (x ^ x >> 16) * 0x45d9f3bu;
    return (x >> 8) * 0x1p-24f;
}

// Spheres along a curve that fills a cube of 2^bits cells in each direction, and the lowest boxes.
kernel void setup_spheres(global float4 *spheres, global bounds *boxes, int bits)
{
    uint id = (uint)get_global_id(0);
    float cell = 1.0f / (1 << bits);
    float4 s;
    uint place[3] = {0, 0, 0};
    for (int bit = 0; bit < 3 * bits; bit++)
        place[bit % 3] |= (id >> bit & 1) << (bit / 3);
    s.x = (place[0] + hashed(3 * id)) * cell;
    s.y = (place[1] + hashed(3 * id + 1)) * cell;
    s.z = (place[2] + hashed(3 * id + 2)) * cell;
    s.w = 0.2f * cell;
    spheres[id] = s;
    global bounds *b = &boxes[get_global_size(0) + id];
    // A little more than the sphere, so that rounding leaves none out.
    float around = 1.02f * s.w;
    b->low[0] = s.x - around;
    b->low[1] = s.y - around;
    b->low[2] = s.z - around;
    b->high[0] = s.x + around;
    b->high[1] = s.y + around;
    b->high[2] = s.z + around;
}

// Boxes around two of the level below; node i has the children 2i and 2i + 1.
kernel void setup_boxes(global bounds *boxes)
{
    size_t node = get_global_size(0) + get_global_id(0);
    for (int k = 0; k < 3; k++) {
        boxes[node].low[k] = fmin(boxes[2 * node].low[k], boxes[2 * node + 1].low[k]);
        boxes[node].high[k] = fmax(boxes[2 * node].high[k], boxes[2 * node + 1].high[k]);
    }
}

// How far rays go until they hit a sphere; 0 for those that hit none.
kernel void rays(global float *out, global const float4 *spheres, global const bounds *boxes, uint leaves,
                 int width)
{
    int x = get_global_id(0), y = get_global_id(1);
    float origin[3] = {(x + 0.5f) / width, (y + 0.5f) / width, -1.0f};
    float way[3] = {0.3f - 0.5f * origin[0], 0.2f - 0.4f * origin[1], 1.0f};
    float square = way[0] * way[0] + way[1] * way[1] + 1.0f, inverse[3];
    for (int k = 0; k < 3; k++)
        inverse[k] = 1.0f / way[k];
    float nearest = 1e30f;
    uint stack[32];
    int top = 0;
    stack[top++] = 1;
    while (top > 0) {
        uint node = stack[--top];
        float from = 0.0f, to = nearest;
        for (int k = 0; k < 3; k++) {
            float a = (boxes[node].low[k] - origin[k]) * inverse[k];
            float b = (boxes[node].high[k] - origin[k]) * inverse[k];
            from = fmax(from, fmin(a, b));
            to = fmin(to, fmax(a, b));
        }
        if (from > to)
            continue;
        if (node < leaves) {
            stack[top++] = 2 * node + 1;
            stack[top++] = 2 * node;
            continue;
        }
        float4 s = spheres[node - leaves];
        float dx = s.x - origin[0], dy = s.y - origin[1], dz = s.z - origin[2];
        float along = dx * way[0] + dy * way[1] + dz * way[2];
        float rest = along * along - square * (dx * dx + dy * dy + dz * dz - s.w * s.w);
        if (rest >= 0.0f)
            nearest = fmin(nearest, (along - sqrt(rest)) / square);
    }
    out[y * width + x] = nearest < 1e30f ? nearest : 0.0f;
}
