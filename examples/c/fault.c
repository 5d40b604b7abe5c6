/*
 * What a kernel does wrong, and how to read it.
 *
 *     ./fault [FOLDER]        FOLDER has saxpy.gfx900.co; examples/saxpy unless given
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <wavelift.h>

static void check(wavelift_status status, const char *what)
{
    if (status != WAVELIFT_OK) {
        fprintf(stderr, "%s: %s: %s\n", what, wavelift_status_name(status), wavelift_error_message());
        exit(1);
    }
}

/* The line of a disassembly with the address of an instruction. */
static void print_line(wavelift_kernel kernel, uint64_t pc)
{
    size_t length;
    check(wavelift_kernel_disassemble(kernel, WAVELIFT_ADDRESSES, NULL, 0, &length), "length");
    char *text = malloc(length + 1);
    if (text == NULL) {
        fprintf(stderr, "no memory for %zu bytes\n", length);
        exit(1);
    }
    check(wavelift_kernel_disassemble(kernel, WAVELIFT_ADDRESSES, text, length + 1, NULL), "text");
    char address[32];
    snprintf(address, sizeof address, "%" PRIx64, pc);
    for (char *line = strtok(text, "\n"); line != NULL; line = strtok(NULL, "\n"))
        if (strstr(line, address) != NULL)
            printf("disassembly  %s\n", line);
    free(text);
}

int main(int argc, char **argv)
{
    /* Each access is checked against the allocations. Without the flag, only accesses outside of all
     * memory are faults, as on a GPU. */
    wavelift_device_options options = {.size = sizeof options, .flags = WAVELIFT_MEMCHECK};
    wavelift_device device;
    wavelift_module module;
    wavelift_kernel saxpy;
    char path[4096];
    snprintf(path, sizeof path, "%s/saxpy.gfx900.co", argc > 1 ? argv[1] : "examples/saxpy");
    check(wavelift_device_create(&options, &device), "device");
    check(wavelift_module_load_file(device, path, NULL, &module), "module");
    check(wavelift_module_kernel(module, "saxpy", &saxpy), "kernel");

    /* `n` is the size of x, but y is shorter. */
    wavelift_buffer x, y;
    check(wavelift_buffer_create(device, NULL, 200 * sizeof(float), &x), "x");
    check(wavelift_buffer_create(device, NULL, 100 * sizeof(float), &y), "y");
    const wavelift_arg args[] = {
        wavelift_arg_buffer(y),
        wavelift_arg_buffer(x),
        wavelift_arg_f32(3.0f),
        wavelift_arg_u32(200),
    };
    wavelift_launch_options launch = {.size = sizeof launch, .grid = {256}, .block = {256}};
    wavelift_status status = wavelift_launch(saxpy, &launch, args, 4, NULL);
    printf("status       %s\n", wavelift_status_name(status));

    wavelift_fault fault = {.size = sizeof fault};
    check(wavelift_error_fault(&fault), "fault");
    uint64_t start;
    check(wavelift_buffer_info(y, &start, NULL), "y");
    printf("kind         %s\n", fault.kind_name);
    printf("kernel       %s\n", fault.kernel);
    printf("instruction  %s\n", fault.instruction);
    printf("workgroup    %u, wave %u, lane %d\n", fault.workgroup[0], fault.wave, fault.lane);
    printf("EXEC         %#" PRIx64 "\n", fault.exec);
    printf("access       %s of %u bytes, %" PRIu64 " bytes from the beginning of y\n",
           fault.access == WAVELIFT_ACCESS_READ ? "read" : "other", fault.bytes,
           fault.address - start);
    print_line(saxpy, fault.pc);

    /* A kernel that takes too long ends in a fault as well: see streams.c. The device is usable. */
    const wavelift_arg good[] = {args[0], args[1], args[2], wavelift_arg_u32(100)};
    check(wavelift_launch(saxpy, &launch, good, 4, NULL), "the second launch");
    printf("the second launch is good\n");

    wavelift_buffer_destroy(x);
    wavelift_buffer_destroy(y);
    wavelift_kernel_destroy(saxpy);
    wavelift_module_destroy(module);
    wavelift_device_destroy(device);
    return status == WAVELIFT_FAULT ? 0 : 1;
}
