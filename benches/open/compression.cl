// Compression.

// Runs of equal bytes as pairs of length and byte, in pieces of 128 bytes.
kernel void run_lengths(global uchar *out, global uint *sizes, global const uchar *in)
{
    size_t id = get_global_id(0);
    global const uchar *from = in + 128 * id;
    global uchar *to = out + 256 * id;
    uint size = 0;
    int i = 0;
    while (i < 128) {
        uchar byte = from[i];
        int length = 1;
        while (i + length < 128 && from[i + length] == byte)
            length++;
        to[size++] = (uchar)length;
        to[size++] = byte;
        i += length;
    }
    sizes[id] = size;
}

// The first code of each length, and how many there are.
constant ushort first[10] = {0, 0, 0, 4, 12, 28, 60, 124, 252, 508};
constant uchar count[10] = {0, 0, 2, 2, 2, 2, 2, 2, 2, 4};

// Symbols of a code of Huffman from a stream of bits: lengths of 2 to 9 bits by a canonical table.
kernel void huffman(global uchar *out, global const uint *streams, int words, int symbols)
{
    size_t id = get_global_id(0);
    global const uint *stream = streams + id * words;
    int bit = 0;
    for (int k = 0; k < symbols; k++) {
        uint code = 0, index = 0;
        int length = 0;
        while (length < 9) {
            code = code << 1 | (stream[bit >> 5] >> (bit & 31) & 1);
            bit++;
            length++;
            if (code - first[length] < count[length])
                break;
            index += count[length];
        }
        out[id * symbols + k] = (uchar)(index + code - first[length]);
        if (bit >= words * 32 - 9)
            bit = 0;
    }
}

// The longest earlier match of each place of a text within a window, of 3 to 32 bytes.
kernel void matches(global ushort2 *out, global const uchar *text, int window, int n)
{
    int id = get_global_id(0);
    int best = 2, distance = 0;
    for (int d = 1; d <= min(window, id); d++) {
        int length = 0;
        while (length < 32 && id + length < n && text[id + length] == text[id + length - d])
            length++;
        if (length > best) {
            best = length;
            distance = d;
        }
    }
    out[id] = (ushort2)(distance ? best : 0, distance);
}

// Numbers of a width of bits that differs from block to block of 32.
kernel void unpack(global uint *out, global const uint *packed, global const uchar *widths)
{
    size_t id = get_global_id(0), block = id / 32;
    uint width = widths[block], at = (uint)(id % 32) * width;
    global const uint *words = packed + block * 32;
    uint value = words[at / 32] >> (at % 32);
    if (at % 32 + width > 32)
        value |= words[at / 32 + 1] << (32 - at % 32);
    out[id] = width == 32 ? value : value & ((1u << width) - 1);
}
