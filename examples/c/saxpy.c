/*
 * A first kernel from C: device, module, kernel, buffers, launch, and what a kernel takes and needs.
 *
 *     ./saxpy [FOLDER]        FOLDER has saxpy.gfx900.co; examples/saxpy unless given
 */
#include <stdio.h>
#include <stdlib.h>

#include <wavelift.h>

#define N 1000

/* Ends the program with the message of a call that failed. */
static void check(wavelift_status status, const char *what)
{
    if (status != WAVELIFT_OK) {
        fprintf(stderr, "%s: %s: %s\n", what, wavelift_status_name(status), wavelift_error_message());
        exit(1);
    }
}

static void print_kernel(wavelift_kernel kernel)
{
    wavelift_kernel_info info = {.size = sizeof info};
    check(wavelift_kernel_get_info(kernel, &info), "info");
    printf("%s: %u VGPRs, %u SGPRs, %u bytes of LDS, %u bytes of scratch\n", info.name, info.vgprs,
           info.sgprs, info.lds_bytes, info.scratch_bytes);
    for (unsigned i = 0; i < info.arg_count; i++) {
        wavelift_parameter arg = {.size = sizeof arg};
        check(wavelift_kernel_get_parameter(kernel, i, &arg), "parameter");
        /* Compilers leave out some of the texts. */
        printf("  %u: %s, %s, %u bytes at %u\n", i, arg.type_name ? arg.type_name : "?", arg.kind_name,
               arg.bytes, arg.offset);
    }
}

/* y = a * x + y on one engine. */
static void run(const char *path, const char *engine)
{
    wavelift_device_options options = {.size = sizeof options, .engine = engine};
    wavelift_device device;
    wavelift_module module;
    wavelift_kernel saxpy;
    check(wavelift_device_create(&options, &device), "device");
    check(wavelift_module_load_file(device, path, NULL, &module), "module");
    check(wavelift_module_kernel(module, "saxpy", &saxpy), "kernel");
    print_kernel(saxpy);

    /* x is a copy in the device's memory; y stays where it is, and the kernel accesses it there. */
    float x[N];
    static float y[N];
    for (int i = 0; i < N; i++) {
        x[i] = (float)i;
        y[i] = 1.0f;
    }
    wavelift_buffer x_buffer, y_buffer;
    check(wavelift_buffer_create(device, x, sizeof x, &x_buffer), "x");
    check(wavelift_buffer_register(device, y, sizeof y, &y_buffer), "y");

    const wavelift_arg args[] = {
        wavelift_arg_buffer(y_buffer),
        wavelift_arg_buffer(x_buffer),
        wavelift_arg_f32(2.0f),
        wavelift_arg_u32(N),
    };
    /* 1024 work-items in workgroups of 256. */
    wavelift_launch_options launch = {.size = sizeof launch, .grid = {1024}, .block = {256}};
    wavelift_stats stats = {.size = sizeof stats};
    check(wavelift_launch(saxpy, &launch, args, 4, &stats), "launch");
    printf("%s: %llu workgroups of %llu waves in all\n", engine,
           (unsigned long long)stats.workgroups, (unsigned long long)stats.waves);

    /* After that nothing but this program accesses y. */
    check(wavelift_buffer_destroy(y_buffer), "y");
    for (int i = 0; i < N; i++) {
        if (y[i] != 2.0f * (float)i + 1.0f) {
            fprintf(stderr, "y[%d] is %g\n", i, (double)y[i]);
            exit(1);
        }
    }
    printf("y[999] = %g\n", (double)y[999]);

    wavelift_buffer_destroy(x_buffer);
    wavelift_kernel_destroy(saxpy);
    wavelift_module_destroy(module);
    wavelift_device_destroy(device);
}

int main(int argc, char **argv)
{
    if (wavelift_abi_version() != WAVELIFT_ABI_VERSION) {
        fprintf(stderr, "libwavelift %s does not suit this program\n", wavelift_version());
        return 1;
    }
    char path[4096];
    snprintf(path, sizeof path, "%s/saxpy.gfx900.co", argc > 1 ? argv[1] : "examples/saxpy");
    const char *engine;
    for (size_t i = 0; (engine = wavelift_engine_name(i)) != NULL; i++)
        run(path, engine);
    return 0;
}
