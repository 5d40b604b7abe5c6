// SHA-256 of many independent messages, one per work-item, with the full padding rule: a 1 bit,
// zeros, and the length in bits as a big-endian 64-bit number at the end of the last block.
constant uint K[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static uint ror(uint x, uint n) { return rotate(x, 32 - n); }

// The 16 words of a block that lies wholly inside of its message.
static void full_block(uint *w, global const uchar *bytes)
{
    #pragma unroll
    for (uint i = 0; i < 16; i++)
        w[i] = (uint)bytes[4 * i] << 24 | (uint)bytes[4 * i + 1] << 16 |
               (uint)bytes[4 * i + 2] << 8 | bytes[4 * i + 3];
}

// The 16 words of a block that holds `rest` (0..63) bytes of the message, or none if it comes after
// the end (`ended`), and padding. The words move through `w` like a queue.
static void last_block(uint *w, global const uchar *bytes, uint rest, bool ended, uint length)
{
    #pragma nounroll
    for (uint i = 0; i < 16; i++) {
        uint word = 0;
        for (uint p = 4 * i; p < 4 * i + 4; p++)
            word = word << 8 | (ended || p > rest ? 0 : p == rest ? 0x80 : bytes[p]);
        #pragma unroll
        for (uint k = 0; k < 15; k++)
            w[k] = w[k + 1];
        w[15] = word;
    }
    if (ended || rest < 56) {
        w[14] = length >> 29;
        w[15] = length << 3;
    }
}

static void compress(uint *h, uint *w)
{
    uint a = h[0], b = h[1], c = h[2], d = h[3], e = h[4], f = h[5], g = h[6], z = h[7];
    for (uint round = 0; round < 64; round += 16) {
        #pragma unroll
        for (uint i = 0; i < 16; i++) {
            if (round > 0) {
                uint w1 = w[(i + 1) & 15], w14 = w[(i + 14) & 15];
                uint s0 = ror(w1, 7) ^ ror(w1, 18) ^ w1 >> 3;
                uint s1 = ror(w14, 17) ^ ror(w14, 19) ^ w14 >> 10;
                w[i] += s0 + w[(i + 9) & 15] + s1;
            }
            uint t1 = z + (ror(e, 6) ^ ror(e, 11) ^ ror(e, 25)) + bitselect(g, f, e) +
                      K[round + i] + w[i];
            uint t2 = (ror(a, 2) ^ ror(a, 13) ^ ror(a, 22)) + ((a & b) | (c & (a | b)));
            z = g; g = f; f = e; e = d + t1;
            d = c; c = b; b = a; a = t1 + t2;
        }
    }
    h[0] += a; h[1] += b; h[2] += c; h[3] += d; h[4] += e; h[5] += f; h[6] += g; h[7] += z;
}

static __attribute__((always_inline))
void digest(global uchar *out, global const uchar *message, uint length)
{
    uint h[8] = { 0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                  0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19 };
    uint w[16];
    uint blocks = (length + 8) / 64 + 1;
    for (uint block = 0; block < blocks; block++) {
        uint at = 64 * block;
        if (at + 64 <= length)
            full_block(w, message + at);
        else
            last_block(w, message + at, length & 63, at > length, length);
        compress(h, w);
    }
    #pragma unroll
    for (uint i = 0; i < 8; i++)
        vstore4(as_uchar4(h[i]).s3210, i, out);
}

// Messages of any length: number i is data[starts[i] .. starts[i] + lengths[i]].
kernel void sha256(global uchar *digests, global const uchar *data, global const uint *starts,
                   global const uint *lengths, uint count)
{
    size_t i = get_global_id(0);
    if (i < count)
        digest(digests + 32 * i, data + starts[i], lengths[i]);
}

// Messages of one length at a fixed stride.
kernel void sha256_fixed(global uchar *digests, global const uchar *data, uint stride, uint length,
                         uint count)
{
    size_t i = get_global_id(0);
    if (i < count)
        digest(digests + 32 * i, data + stride * i, length);
}
