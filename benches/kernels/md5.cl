// MD5 of messages of 16 bytes, one per work-item: a single padded block, all 64 steps written out.
#define F(x, y, z) bitselect(z, y, x)
#define G(x, y, z) bitselect(y, x, z)
#define H(x, y, z) ((x) ^ (y) ^ (z))
#define I(x, y, z) ((y) ^ ((x) | ~(z)))
#define STEP(f, a, b, c, d, w, k, s) a = rotate(a + f(b, c, d) + (w) + k, s) + b

// Four steps, the registers' roles moving on.
#define FOUR(f, w0, k0, w1, k1, w2, k2, w3, k3, s0, s1, s2, s3) \
    STEP(f, a, b, c, d, w0, k0, s0); \
    STEP(f, d, a, b, c, w1, k1, s1); \
    STEP(f, c, d, a, b, w2, k2, s2); \
    STEP(f, b, c, d, a, w3, k3, s3)

kernel void md5(global uint4 *digests, global const uint4 *messages, uint n)
{
    size_t i = get_global_id(0);
    if (i >= n)
        return;
    uint4 m = messages[i];
    // The message, a 1 bit, zeros, and the length in bits: 128.
    uint w[16] = { m.x, m.y, m.z, m.w, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 128, 0 };
    uint a = 0x67452301, b = 0xefcdab89, c = 0x98badcfe, d = 0x10325476;
    FOUR(F, w[0], 0xd76aa478u, w[1], 0xe8c7b756u,
         w[2], 0x242070dbu, w[3], 0xc1bdceeeu, 7u, 12u, 17u, 22u);
    FOUR(F, w[4], 0xf57c0fafu, w[5], 0x4787c62au,
         w[6], 0xa8304613u, w[7], 0xfd469501u, 7u, 12u, 17u, 22u);
    FOUR(F, w[8], 0x698098d8u, w[9], 0x8b44f7afu,
         w[10], 0xffff5bb1u, w[11], 0x895cd7beu, 7u, 12u, 17u, 22u);
    FOUR(F, w[12], 0x6b901122u, w[13], 0xfd987193u,
         w[14], 0xa679438eu, w[15], 0x49b40821u, 7u, 12u, 17u, 22u);
    FOUR(G, w[1], 0xf61e2562u, w[6], 0xc040b340u,
         w[11], 0x265e5a51u, w[0], 0xe9b6c7aau, 5u, 9u, 14u, 20u);
    FOUR(G, w[5], 0xd62f105du, w[10], 0x02441453u,
         w[15], 0xd8a1e681u, w[4], 0xe7d3fbc8u, 5u, 9u, 14u, 20u);
    FOUR(G, w[9], 0x21e1cde6u, w[14], 0xc33707d6u,
         w[3], 0xf4d50d87u, w[8], 0x455a14edu, 5u, 9u, 14u, 20u);
    FOUR(G, w[13], 0xa9e3e905u, w[2], 0xfcefa3f8u,
         w[7], 0x676f02d9u, w[12], 0x8d2a4c8au, 5u, 9u, 14u, 20u);
    FOUR(H, w[5], 0xfffa3942u, w[8], 0x8771f681u,
         w[11], 0x6d9d6122u, w[14], 0xfde5380cu, 4u, 11u, 16u, 23u);
    FOUR(H, w[1], 0xa4beea44u, w[4], 0x4bdecfa9u,
         w[7], 0xf6bb4b60u, w[10], 0xbebfbc70u, 4u, 11u, 16u, 23u);
    FOUR(H, w[13], 0x289b7ec6u, w[0], 0xeaa127fau,
         w[3], 0xd4ef3085u, w[6], 0x04881d05u, 4u, 11u, 16u, 23u);
    FOUR(H, w[9], 0xd9d4d039u, w[12], 0xe6db99e5u,
         w[15], 0x1fa27cf8u, w[2], 0xc4ac5665u, 4u, 11u, 16u, 23u);
    FOUR(I, w[0], 0xf4292244u, w[7], 0x432aff97u,
         w[14], 0xab9423a7u, w[5], 0xfc93a039u, 6u, 10u, 15u, 21u);
    FOUR(I, w[12], 0x655b59c3u, w[3], 0x8f0ccc92u,
         w[10], 0xffeff47du, w[1], 0x85845dd1u, 6u, 10u, 15u, 21u);
    FOUR(I, w[8], 0x6fa87e4fu, w[15], 0xfe2ce6e0u,
         w[6], 0xa3014314u, w[13], 0x4e0811a1u, 6u, 10u, 15u, 21u);
    FOUR(I, w[4], 0xf7537e82u, w[11], 0xbd3af235u,
         w[2], 0x2ad7d2bbu, w[9], 0xeb86d391u, 6u, 10u, 15u, 21u);
    digests[i] = (uint4)(a + 0x67452301, b + 0xefcdab89, c + 0x98badcfe, d + 0x10325476);
}
