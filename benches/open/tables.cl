// Hash tables and groups by atomics; what is in them does not depend on the order.

static uint hash(uint x)
{
    x = (x ^ x >> 16) * 0x45d9f3bu;
    x = (x ^ x >> 16) * 0x45d9f3bu;
    return x ^ x >> 16;
}

// A set with open addressing: the greater key stays, the smaller one goes on to the next slot.
kernel void insert(global uint *slots, uint mask, global const uint *keys)
{
    uint key = keys[get_global_id(0)];
    if (key == 0)
        return;
    uint at = hash(key) & mask;
    while (true) {
        uint before = atomic_max(&slots[at], key);
        if (before == 0 || before == key)
            break;
        key = min(before, key);
        at = (at + 1) & mask;
    }
}

// How many slots a look-up tries; 0 if the key is not there.
kernel void find(global uchar *tries, global const uint *slots, uint mask, global const uint *keys)
{
    size_t id = get_global_id(0);
    uint key = keys[id], at = hash(key) & mask;
    uchar count = 1;
    while (slots[at] != key && slots[at] != 0) {
        at = (at + 1) & mask;
        count++;
    }
    tries[id] = slots[at] == key ? count : 0;
}

// Number, sum and extremes of the values of each group.
kernel void group_by(global uint *counts, global uint *sums, global int *least, global int *most,
                     global const ushort *groups, global const int *values)
{
    size_t id = get_global_id(0);
    uint group = groups[id];
    int value = values[id];
    atomic_inc(&counts[group]);
    atomic_add(&sums[group], (uint)value);
    atomic_min(&least[group], value);
    atomic_max(&most[group], value);
}

// A Bloom filter of four bits for each key.
kernel void bloom_add(global uint *bits, uint mask, global const uint *keys)
{
    uint h = hash(keys[get_global_id(0)]), step = hash(h) | 1;
    for (int i = 0; i < 4; i++) {
        uint bit = (h + i * step) & mask;
        atomic_or(&bits[bit >> 5], 1u << (bit & 31));
    }
}

kernel void bloom_test(global uchar *out, global const uint *bits, uint mask, global const uint *keys)
{
    size_t id = get_global_id(0);
    uint h = hash(keys[id]), step = hash(h) | 1;
    bool there = true;
    for (int i = 0; i < 4 && there; i++) {
        uint bit = (h + i * step) & mask;
        there = bits[bit >> 5] >> (bit & 31) & 1;
    }
    out[id] = there;
}
