/*
 * Launches that do not wait: two streams run at the same time, events order them, and launches that take
 * too long are stopped.
 *
 *     ./streams [FOLDER]      FOLDER has saxpy and mandelbrot; examples unless given
 */
#include <stdio.h>
#include <stdlib.h>

#include <wavelift.h>

#define N 65536

static void check(wavelift_status status, const char *what)
{
    if (status != WAVELIFT_OK) {
        fprintf(stderr, "%s: %s: %s\n", what, wavelift_status_name(status), wavelift_error_message());
        exit(1);
    }
}

static wavelift_kernel load(wavelift_device device, const char *folder, const char *name)
{
    char path[4096];
    wavelift_module module;
    wavelift_kernel kernel;
    snprintf(path, sizeof path, "%s/%s/%s.gfx900.co", folder, name, name);
    check(wavelift_module_load_file(device, path, NULL, &module), path);
    check(wavelift_module_kernel(module, name, &kernel), name);
    /* The kernel keeps its module. */
    check(wavelift_module_destroy(module), path);
    return kernel;
}

/* Queues y = a * x + y. */
static wavelift_event add(wavelift_stream stream, wavelift_kernel saxpy, wavelift_buffer y, float a,
                          wavelift_buffer x)
{
    const wavelift_arg args[] = {wavelift_arg_buffer(y), wavelift_arg_buffer(x), wavelift_arg_f32(a),
                                 wavelift_arg_u32(N)};
    wavelift_launch_options options = {.size = sizeof options, .grid = {N}, .block = {256}};
    wavelift_event event;
    check(wavelift_stream_launch(stream, saxpy, &options, args, 4, &event), "launch");
    return event;
}

static float first(wavelift_buffer buffer)
{
    float value;
    check(wavelift_buffer_read(buffer, 0, &value, sizeof value), "read");
    return value;
}

/* `view_t` of the kernel. */
struct view {
    float corner[2];
    float pixel[2];
    unsigned size[2];
    unsigned max_iter;
};

/* Queues a launch of hours: all pixels are inside the set. */
static wavelift_event endless(wavelift_stream stream, wavelift_kernel mandelbrot,
                              wavelift_buffer pixels, wavelift_cancel_token cancel,
                              uint64_t timeout_ns)
{
    struct view view = {{-0.1f, -0.1f}, {0.0001f, 0.0001f}, {256, 256}, 0xffffffffu};
    const wavelift_arg args[] = {wavelift_arg_buffer(pixels),
                                 wavelift_arg_bytes(&view, sizeof view)};
    wavelift_launch_options options = {
        .size = sizeof options,
        .grid = {256, 256},
        .block = {16, 8},
        .cancel = cancel,
        .timeout_ns = timeout_ns,
    };
    wavelift_event event;
    check(wavelift_stream_launch(stream, mandelbrot, &options, args, 2, &event), "launch");
    return event;
}

int main(int argc, char **argv)
{
    const char *folder = argc > 1 ? argv[1] : "examples";
    wavelift_device device;
    check(wavelift_device_create(NULL, &device), "device");
    wavelift_kernel saxpy = load(device, folder, "saxpy");
    wavelift_kernel mandelbrot = load(device, folder, "mandelbrot");

    static float ones[N];
    for (int i = 0; i < N; i++)
        ones[i] = 1.0f;
    wavelift_buffer x, left, right;
    check(wavelift_buffer_create(device, ones, sizeof ones, &x), "x");
    check(wavelift_buffer_create(device, NULL, sizeof ones, &left), "left");
    check(wavelift_buffer_create(device, NULL, sizeof ones, &right), "right");

    /* Each stream works through its launches in order; the two run at the same time. */
    wavelift_stream one, two;
    check(wavelift_stream_create(device, &one), "stream");
    check(wavelift_stream_create(device, &two), "stream");
    for (int i = 0; i < 10; i++)
        wavelift_event_destroy(add(one, saxpy, left, 1.0f, x));
    for (int i = 0; i < 3; i++)
        wavelift_event_destroy(add(two, saxpy, right, 5.0f, x));
    wavelift_event right_is_done = add(two, saxpy, right, 5.0f, x);

    /* `left` takes `right` once it is complete. Nothing waits here but the first stream. */
    check(wavelift_stream_wait_for(one, right_is_done), "wait_for");
    wavelift_event sum = add(one, saxpy, left, 1.0f, right);
    wavelift_stats stats = {.size = sizeof stats};
    check(wavelift_event_wait(sum, WAVELIFT_FOREVER, &stats), "sum");
    unsigned done;
    check(wavelift_event_query(right_is_done, &done), "query");
    printf("10 * 1 + 4 * 5 = %g, %u workgroups; the other stream is done: %u\n",
           (double)first(left), (unsigned)stats.workgroups, done);

    /* A launch is cancelled, from this or any other thread. */
    wavelift_cancel_token token;
    const wavelift_cancel_token none = {0};
    check(wavelift_cancel_token_create(&token), "token");
    wavelift_event event = endless(two, mandelbrot, right, token, 0);
    wavelift_status status = wavelift_event_wait(event, 50000000, NULL);
    printf("after 50 ms: %s\n", wavelift_status_name(status));
    check(wavelift_cancel(token), "cancel");
    status = wavelift_event_wait(event, WAVELIFT_FOREVER, NULL);
    printf("cancelled: %s: %s\n", wavelift_status_name(status), wavelift_error_message());
    wavelift_event_destroy(event);

    /* The stream has failed for good; a new one goes on. This launch has a time limit. */
    event = add(two, saxpy, left, 1.0f, x);
    status = wavelift_event_wait(event, WAVELIFT_FOREVER, NULL);
    printf("next launch: %s\n", wavelift_status_name(status));
    wavelift_event_destroy(event);
    wavelift_stream_destroy(two);
    check(wavelift_stream_create(device, &two), "stream");
    event = endless(two, mandelbrot, right, none, 50000000);
    status = wavelift_event_wait(event, WAVELIFT_FOREVER, NULL);
    wavelift_fault fault = {.size = sizeof fault};
    check(wavelift_error_fault(&fault), "fault");
    printf("time limit: %s: %s in kernel %s\n", wavelift_status_name(status), fault.kind_name,
           fault.kernel);

    wavelift_event_destroy(event);
    wavelift_event_destroy(sum);
    wavelift_event_destroy(right_is_done);
    wavelift_cancel_token_destroy(token);
    wavelift_stream_destroy(one);
    wavelift_stream_destroy(two);
    wavelift_buffer_destroy(x);
    wavelift_buffer_destroy(left);
    wavelift_buffer_destroy(right);
    wavelift_kernel_destroy(saxpy);
    wavelift_kernel_destroy(mandelbrot);
    wavelift_device_destroy(device);
    return 0;
}
