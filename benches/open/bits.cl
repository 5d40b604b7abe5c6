// Bits of words and of bytes.

// The set bits of a word from the lowest up: their number and the sum of the squares of their places.
kernel void set_bits(global uint2 *out, global const ulong *words)
{
    size_t id = get_global_id(0);
    ulong word = words[id] & words[id] >> 7;
    uint count = 0, squares = 0;
    while (word) {
        uint place = 63 - (uint)clz(word & -word);
        count++;
        squares += place * place;
        word &= word - 1;
    }
    out[id] = (uint2)(count, squares);
}

// CRC-32 of messages, bit by bit.
kernel void crc32(global uint *sums, global const uchar *messages, uint length)
{
    size_t id = get_global_id(0);
    global const uchar *message = messages + id * length;
    uint crc = 0xffffffffu;
    for (uint i = 0; i < length; i++) {
        crc ^= message[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc & 1 ? crc >> 1 ^ 0xedb88320u : crc >> 1;
    }
    sums[id] = ~crc;
}

// The nearest of a list of codes of 128 bits, by the number of bits that differ.
kernel void nearest_code(global uint2 *out, global const uint4 *queries, global const uint4 *codes, uint count)
{
    size_t id = get_global_id(0);
    uint4 query = queries[id];
    uint best = 129, place = 0;
    for (uint i = 0; i < count; i++) {
        uint4 bits = popcount(query ^ codes[i]);
        uint distance = bits.x + bits.y + bits.z + bits.w;
        if (distance < best) {
            best = distance;
            place = i;
        }
    }
    out[id] = (uint2)(place, best);
}
