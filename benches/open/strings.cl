// Bytes and texts.

// Where a pattern is in a text, and how often.
kernel void substring(global uchar *found, global uint *count, global const char *text, uint length,
                      constant char *pattern, uint size)
{
    size_t id = get_global_id(0);
    bool equal = id + size <= length;
    for (uint i = 0; i < size && equal; i++)
        equal = text[id + i] == pattern[i];
    found[id] = equal;
    if (equal)
        atomic_inc(count);
}

// Decodes UTF-8 in pieces of 64 bytes: characters, errors, a checksum of the characters.
kernel void utf8(global uint *out, global const uchar *text)
{
    size_t id = get_global_id(0);
    global const uchar *p = text + 64 * id, *end = p + 64;
    uint characters = 0, errors = 0, sum = 0;
    while (p < end) {
        uint c = *p++;
        int more;
        if (c < 0x80) {
            more = 0;
        } else if (c >= 0xc2 && c < 0xe0) {
            more = 1;
            c &= 0x1f;
        } else if (c >= 0xe0 && c < 0xf0) {
            more = 2;
            c &= 0x0f;
        } else if (c >= 0xf0 && c < 0xf5) {
            more = 3;
            c &= 0x07;
        } else {
            errors++;
            continue;
        }
        while (more > 0 && p < end && (*p & 0xc0) == 0x80) {
            c = c << 6 | (*p++ & 0x3f);
            more--;
        }
        if (more > 0) {
            errors++;
        } else {
            characters++;
            sum = sum * 31 + c;
        }
    }
    out[3 * id] = characters;
    out[3 * id + 1] = errors;
    out[3 * id + 2] = sum;
}

// Numbers as text of 20 decimal digits at most, from the left, then zero bytes.
kernel void decimal(global char *texts, global const ulong *numbers)
{
    size_t id = get_global_id(0);
    ulong x = numbers[id] >> (id % 50);
    global char *text = texts + 24 * id;
    char digits[20];
    int count = 0;
    do {
        digits[count++] = '0' + (char)(x % 10);
        x /= 10;
    } while (x != 0);
    for (int i = 0; i < count; i++)
        text[i] = digits[count - 1 - i];
    for (int i = count; i < 24; i++)
        text[i] = 0;
}

constant char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

// Three bytes as four letters each.
kernel void base64(global char *out, global const uchar *in, int n)
{
    int id = get_global_id(0);
    if (id >= n)
        return;
    uint word = in[3 * id] << 16 | in[3 * id + 1] << 8 | in[3 * id + 2];
    for (int i = 0; i < 4; i++)
        out[4 * id + i] = letters[word >> (18 - 6 * i) & 63];
}
