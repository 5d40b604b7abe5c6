/* Behind a program of csmith: the kernel, or the host's main function, which writes the same buffer to a file. */
#undef main
#undef printf

#ifndef LANES
#define LANES 1
#define prepare_lane() ((void)0)
#elif defined(PRIVATE_GLOBALS)
#define prepare_lane() struct globals mine; globals_of[LANE] = &mine; globals_begin()
#else
#define prepare_lane() globals_begin()
#endif

#ifdef __AMDGCN__
__attribute__((amdgpu_kernel))
void entry(__attribute__((address_space(1))) uint32_t *out)
{
    prepare_lane();
    program_main();
    out[LANE] = crc32_context ^ 0xffffffffu;
}
#else
#include <stdio.h>

static void run_lane(uint32_t *out)
{
    prepare_lane();
    program_main();
    *out = crc32_context ^ 0xffffffffu;
}

int main(int count, char **arguments)
{
    static uint32_t out[LANES];
    for (; current_lane < LANES; current_lane++)
        run_lane(&out[current_lane]);
    FILE *file = fopen(arguments[count - 1], "wb");
    return !file || fwrite(out, sizeof out, 1, file) != 1 || fclose(file);
}
#endif
