// Ciphers and hashes.

static uchar twice(uchar x)
{
    return (uchar)(x << 1 ^ (x >> 7) * 0x1b);
}

// AES's table from inverses, which a loop finds.
kernel void setup_sbox(global uchar *sbox)
{
    uint x = get_global_id(0);
    uchar inverse = 0;
    for (uint y = 1; y < 256; y++) {
        uchar product = 0, a = x;
        for (int bit = 0; bit < 8; bit++) {
            if (y >> bit & 1)
                product ^= a;
            a = twice(a);
        }
        if (product == 1)
            inverse = y;
    }
    uint r = inverse;
    r |= r << 8;
    sbox[x] = (uchar)(r ^ r >> 4 ^ r >> 5 ^ r >> 6 ^ r >> 7 ^ 0x63);
}

// AES with ten rounds, byte by byte, a block per work-item.
kernel void aes(global uchar *out, global const uchar *in, global const uchar *sbox, global const uchar *keys)
{
    size_t base = get_global_id(0) * 16;
    uchar s[16], t[16];
    for (int i = 0; i < 16; i++)
        s[i] = in[base + i] ^ keys[i];
    for (int round = 1; round <= 10; round++) {
        for (int i = 0; i < 16; i++)
            t[i] = sbox[s[(i + 4 * (i & 3)) & 15]];
        for (int c = 0; c < 16; c += 4) {
            uchar all = t[c] ^ t[c + 1] ^ t[c + 2] ^ t[c + 3];
            for (int i = 0; i < 4; i++) {
                uchar mixed = t[c + i] ^ all ^ twice(t[c + i] ^ t[c + ((i + 1) & 3)]);
                s[c + i] = (round < 10 ? mixed : t[c + i]) ^ keys[16 * round + c + i];
            }
        }
    }
    for (int i = 0; i < 16; i++)
        out[base + i] = s[i];
}

constant ulong rounds[24] = {
    0x0000000000000001, 0x0000000000008082, 0x800000000000808a, 0x8000000080008000, 0x000000000000808b,
    0x0000000080000001, 0x8000000080008081, 0x8000000000008009, 0x000000000000008a, 0x0000000000000088,
    0x0000000080008009, 0x000000008000000a, 0x000000008000808b, 0x800000000000008b, 0x8000000000008089,
    0x8000000000008003, 0x8000000000008002, 0x8000000000000080, 0x000000000000800a, 0x800000008000000a,
    0x8000000080008081, 0x8000000000008080, 0x0000000080000001, 0x8000000080008008};
constant int turns[24] = {1, 3, 6, 10, 15, 21, 28, 36, 45, 55, 2, 14, 27, 41, 56, 8, 25, 43, 62, 18, 39, 61, 20, 44};
constant int lanes[24] = {10, 7, 11, 17, 18, 3, 5, 16, 8, 21, 24, 4, 15, 23, 19, 13, 12, 2, 20, 14, 22, 9, 6, 1};

// The permutation of SHA-3 over a state of 25 words; its first four.
kernel void keccak(global ulong *out, global const ulong *messages)
{
    size_t id = get_global_id(0);
    ulong a[25], c[5];
    for (int i = 0; i < 25; i++)
        a[i] = i < 8 ? messages[id * 8 + i] : 0;
    for (int round = 0; round < 24; round++) {
        for (int x = 0; x < 5; x++)
            c[x] = a[x] ^ a[x + 5] ^ a[x + 10] ^ a[x + 15] ^ a[x + 20];
        for (int x = 0; x < 5; x++) {
            ulong d = c[(x + 4) % 5] ^ rotate(c[(x + 1) % 5], 1ul);
            for (int y = 0; y < 25; y += 5)
                a[y + x] ^= d;
        }
        ulong moved = a[1];
        for (int i = 0; i < 24; i++) {
            ulong t = a[lanes[i]];
            a[lanes[i]] = rotate(moved, (ulong)turns[i]);
            moved = t;
        }
        for (int y = 0; y < 25; y += 5) {
            for (int x = 0; x < 5; x++)
                c[x] = a[y + x];
            for (int x = 0; x < 5; x++)
                a[y + x] = c[x] ^ (~c[(x + 1) % 5] & c[(x + 2) % 5]);
        }
        a[0] ^= rounds[round];
    }
    for (int i = 0; i < 4; i++)
        out[id * 4 + i] = a[i];
}

// RC4 with its table of 256 bytes in private memory.
kernel void rc4(global uchar *out, global const uchar *keys, int length)
{
    size_t id = get_global_id(0);
    uchar s[256];
    for (int i = 0; i < 256; i++)
        s[i] = i;
    uchar j = 0;
    for (int i = 0; i < 256; i++) {
        uchar t = s[i];
        j += t + keys[id * 16 + (i & 15)];
        s[i] = s[j];
        s[j] = t;
    }
    j = 0;
    for (int k = 0; k < length; k++) {
        uchar i = k + 1, t = s[i];
        j += t;
        s[i] = s[j];
        s[j] = t;
        out[id * length + k] = s[(uchar)(s[i] + t)];
    }
}

#define QUARTER(a, b, c, d) \
    a += b; d = rotate(d ^ a, 16u); c += d; b = rotate(b ^ c, 12u); \
    a += b; d = rotate(d ^ a, 8u); c += d; b = rotate(b ^ c, 7u);

// ChaCha20, a block of 64 bytes per work-item.
kernel void chacha(global uint *data, constant uint *key)
{
    uint id = (uint)get_global_id(0);
    uint s[16] = {0x61707865, 0x3320646e, 0x79622d32, 0x6b206574, key[0], key[1], key[2], key[3],
                  key[4], key[5], key[6], key[7], id, key[8], key[9], key[10]}, x[16];
    for (int i = 0; i < 16; i++)
        x[i] = s[i];
    for (int round = 0; round < 10; round++) {
        QUARTER(x[0], x[4], x[8], x[12])
        QUARTER(x[1], x[5], x[9], x[13])
        QUARTER(x[2], x[6], x[10], x[14])
        QUARTER(x[3], x[7], x[11], x[15])
        QUARTER(x[0], x[5], x[10], x[15])
        QUARTER(x[1], x[6], x[11], x[12])
        QUARTER(x[2], x[7], x[8], x[13])
        QUARTER(x[3], x[4], x[9], x[14])
    }
    for (int i = 0; i < 16; i++)
        data[id * 16 + i] ^= x[i] + s[i];
}
