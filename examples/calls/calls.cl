// A little stack machine per work-item: functions that are really called, a stack in scratch memory
// that is indexed by a variable, and (in `vm_table`) calls through a table of function pointers.
#pragma OPENCL EXTENSION __cl_clang_function_pointers : enable

// Code: one word per instruction, the operation in the low byte, an operand above it.
enum { PUSH, DUP, SWAP, ADD, MUL, XOR, ROL, DEC, JNZ, HALT };

#define DEPTH 16

typedef struct {
    uint stack[DEPTH];
    uint top;          // number of entries
    uint pc;
} machine_t;

#define NOINLINE __attribute__((noinline))

static NOINLINE void push(private machine_t *m, uint value)
{
    m->stack[m->top & (DEPTH - 1)] = value;
    m->top++;
}

static NOINLINE uint pop(private machine_t *m)
{
    m->top--;
    return m->stack[m->top & (DEPTH - 1)];
}

// Integer square root by bits: a leaf with a loop that every lane leaves at the same time.
static NOINLINE uint isqrt(uint value)
{
    uint root = 0;
    for (uint bit = 1u << 30; bit != 0; bit >>= 2) {
        if (value >= root + bit) {
            value -= root + bit;
            root = (root >> 1) + bit;
        } else {
            root >>= 1;
        }
    }
    return root;
}

// Calls a leaf from the middle of the call tree, with values live across the call.
static NOINLINE uint finish(private machine_t *m, uint steps)
{
    uint a = pop(m);
    uint root = isqrt(a ^ steps);
    return a + 3 * root + m->top;
}

static NOINLINE void execute(private machine_t *m, uint word)
{
    uint operand = word >> 8;
    switch (word & 255) {
    case PUSH: push(m, operand); break;
    case DUP: { uint a = pop(m); push(m, a); push(m, a); break; }
    case SWAP: { uint a = pop(m), b = pop(m); push(m, a); push(m, b); break; }
    case ADD: push(m, pop(m) + pop(m)); break;
    case MUL: push(m, pop(m) * pop(m)); break;
    case XOR: push(m, pop(m) ^ pop(m)); break;
    case ROL: push(m, rotate(pop(m), operand)); break;
    case DEC: push(m, pop(m) - 1); break;
    case JNZ: { uint a = pop(m); push(m, a); if (a != 0) m->pc = operand; break; }
    }
}

// Each work-item starts with its seed on the stack, and so loops its own number of times.
kernel void vm_switch(global uint *results, global const uint *code, global const uint *seeds,
                      uint n)
{
    size_t i = get_global_id(0);
    if (i >= n)
        return;
    machine_t m;
    m.top = 0;
    m.pc = 0;
    push(&m, seeds[i]);
    push(&m, seeds[i] % 13 + 1);
    uint steps = 0;
    for (;;) {
        uint word = code[m.pc++];
        if ((word & 255) == HALT)
            break;
        execute(&m, word);
        steps++;
    }
    results[i] = finish(&m, steps);
}

typedef uint (*operation_t)(uint a, uint b);

static uint op_add(uint a, uint b) { return a + b; }
static uint op_mul(uint a, uint b) { return a * (b | 1); }
static uint op_xor(uint a, uint b) { return a ^ b << 7; }
static uint op_root(uint a, uint b) { return isqrt(a) + b; }
static uint op_fold(uint a, uint b)
{
    uint digits[8];
    for (uint k = 0; k < 8; k++)
        digits[k] = a >> (4 * k) & 15;
    uint sum = 0;
    for (uint k = 0; k < 8; k++)
        sum = sum * 17 + digits[(b + k * digits[k]) & 7];
    return sum;
}

constant operation_t TABLE[] = { op_add, op_mul, op_xor, op_root, op_fold };

// The lanes of a wave call different functions at once.
kernel void vm_table(global uint *results, global const uint *seeds, uint rounds, uint n)
{
    size_t i = get_global_id(0);
    if (i >= n)
        return;
    uint a = seeds[i], b = (uint)i;
    for (uint r = 0; r < rounds; r++) {
        uint next = TABLE[(a ^ r) % 5](a, b);
        b = a;
        a = next;
    }
    results[i] = a ^ b;
}
