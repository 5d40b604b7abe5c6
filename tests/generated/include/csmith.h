/* In place of csmith's runtime: the same on the host and on a GPU, without a C library. The arithmetic is csmith's own. */
#pragma once

#include <float.h>
#include <limits.h>
#include <stddef.h>
#include <stdint.h>

/* Without optimization clang-19 crashes on functions of which all calls are in dead code, so some programs inline them. */
#ifdef INLINED_ARITHMETIC
#define STATIC static inline __attribute__((always_inline))
#else
#define STATIC static
#endif
#define UNDEFINED(value) (value)
#define LOG_INDEX
#define LOG_EXEC
#define fabsf __builtin_fabsf
#define FUNC_NAME(name) (safe_##name)
#include <safe_math.h>
#undef FUNC_NAME

/* Hides from the compiler what it knows of a value. clang-19 divides unsigned integers as if they were small where it knows
   that their upper bits are equal, which they are in negative numbers made unsigned, too. */
#ifdef __AMDGCN__
#define HIDE(value) __asm__("" : "+v"(value))
#else
#define HIDE(value) ((void)0)
#endif
static uint32_t hide32(uint32_t value) { HIDE(value); return value; }
static uint64_t hide64(uint64_t value) { HIDE(value); return value; }
#define safe_div_func_uint32_t_u_u(a, b) (safe_div_func_uint32_t_u_u)(hide32(a), hide32(b))
#define safe_mod_func_uint32_t_u_u(a, b) (safe_mod_func_uint32_t_u_u)(hide32(a), hide32(b))
#define safe_div_func_uint64_t_u_u(a, b) (safe_div_func_uint64_t_u_u)(hide64(a), hide64(b))
#define safe_mod_func_uint64_t_u_u(a, b) (safe_mod_func_uint64_t_u_u)(hide64(a), hide64(b))

#define INT_BIT (sizeof(int) * CHAR_BIT)
#define _CSMITH_BITFIELD(bits) ((bits) > INT_BIT ? (bits) % INT_BIT : (bits))

#define printf(...) ((void)0)
#define platform_main_begin() ((void)0)
#define platform_main_end(checksum, print) ((void)0)
#define crc32_gentab() (crc32_context = 0xffffffffu)

/* CRC-32, four bits at a time. */
static const uint32_t crc32_nibbles[16] = {
    0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4, 0x4db26158, 0x5005713c,
    0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c, 0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c,
};

static uint32_t crc32_of(uint32_t crc, uint64_t value, int bytes)
{
    for (int i = 0; i < 2 * bytes; i++, value >>= 4)
        crc = (crc >> 4) ^ crc32_nibbles[(crc ^ value) & 15];
    return crc;
}

#define transparent_crc(value, name, print) (crc32_context = crc32_of(crc32_context, (uint64_t)(value), 8))

/* One program for all lanes has its context in the structure of its globals. */
#ifndef LANES
static uint32_t crc32_context;
#endif

#ifdef __AMDGCN__
#define LANE __builtin_amdgcn_workitem_id_x()
#define IN_LDS __attribute__((address_space(3), loader_uninitialized))
#else
static unsigned current_lane;
#define LANE current_lane
#define IN_LDS
#endif

#define main program_main
