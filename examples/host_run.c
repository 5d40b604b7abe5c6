// Runs one kernel of a host-compiled OpenCL source over its whole grid, workgroup by workgroup.
// Each work-item of a workgroup is a coroutine on a stack of its own: it runs until its next
// barrier, then the next one has its turn. Local variables of kernels are statics of the host's
// code, which is right because one workgroup runs at a time.
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>
#include <xmmintrin.h>

enum { STACK = 64 * 1024 };

typedef struct {
    size_t local[3];
    ucontext_t context;
    char *stack;
    int done;
} item_t;

static size_t grid[3], workgroup[3], offset[3], group[3];
static item_t *items, *current;
static size_t capacity;
static ucontext_t scheduler;
static void (*kernel)(void **);
static void **arguments;

static size_t extent(unsigned d)
{
    size_t rest = grid[d] - group[d] * workgroup[d];
    return rest < workgroup[d] ? rest : workgroup[d];
}

size_t shim_global_id(unsigned d)
{
    return d > 2 ? 0 : offset[d] + group[d] * workgroup[d] + current->local[d];
}
size_t shim_local_id(unsigned d) { return d > 2 ? 0 : current->local[d]; }
size_t shim_group_id(unsigned d) { return d > 2 ? 0 : group[d]; }
size_t shim_global_size(unsigned d) { return d > 2 ? 1 : grid[d]; }
size_t shim_local_size(unsigned d) { return d > 2 ? 1 : extent(d); }
void shim_barrier(void) { swapcontext(&current->context, &scheduler); }

static void item_main(void)
{
    kernel(arguments);
    current->done = 1;
}

static void run_group(void)
{
    size_t nx = extent(0), ny = extent(1), nz = extent(2), count = nx * ny * nz;
    if (count > capacity) {
        items = realloc(items, count * sizeof *items);
        if (!items)
            abort();
        for (; capacity < count; capacity++) {
            items[capacity].stack = malloc(STACK);
            if (!items[capacity].stack)
                abort();
        }
    }
    for (size_t i = 0; i < count; i++) {
        item_t *item = &items[i];
        item->local[0] = i % nx;
        item->local[1] = i / nx % ny;
        item->local[2] = i / nx / ny;
        item->done = 0;
        getcontext(&item->context);
        item->context.uc_stack.ss_sp = item->stack;
        item->context.uc_stack.ss_size = STACK;
        item->context.uc_link = &scheduler;
        makecontext(&item->context, item_main, 0);
    }
    for (size_t left = count; left > 0;) {
        size_t before = left;
        for (size_t i = 0; i < count; i++) {
            if (items[i].done)
                continue;
            current = &items[i];
            swapcontext(&scheduler, &current->context);
            left -= items[i].done;
        }
        if (left != 0 && left != before) {
            fprintf(stderr, "work-items of one workgroup met different numbers of barriers\n");
            abort();
        }
    }
}

// `flush`: denormal operands and results count as zero.
void run(void (*entry)(void **), void **args, const size_t *g, const size_t *w, const size_t *o,
         int flush)
{
    unsigned control = _mm_getcsr();
    _mm_setcsr(flush ? control | 0x8040 : control);
    kernel = entry;
    arguments = args;
    for (int d = 0; d < 3; d++) {
        grid[d] = g[d];
        workgroup[d] = w[d];
        offset[d] = o[d];
    }
    for (group[2] = 0; group[2] * workgroup[2] < grid[2]; group[2]++)
        for (group[1] = 0; group[1] * workgroup[1] < grid[1]; group[1]++)
            for (group[0] = 0; group[0] * workgroup[0] < grid[0]; group[0]++)
                run_group();
    _mm_setcsr(control);
}
