// Elements of two and four dwords, aligned, that another thread of the host stores or loads at the same time.
// All dwords of an element are equal whenever it was stored as a whole.

typedef uint pair __attribute__((ext_vector_type(2)));
typedef uint four __attribute__((ext_vector_type(4)));
// The same at any dword.
typedef uint any_pair __attribute__((ext_vector_type(2), aligned(4)));
typedef uint any_four __attribute__((ext_vector_type(4), aligned(4)));

static uint wrong_pair(pair v) { return v.x != v.y; }
static uint wrong_four(four v) { return v.x != v.y || v.x != v.z || v.x != v.w; }

// `at` is the number of the work-item's element; loads count what they find torn.
#define KERNELS(name, type, at)                                                                       \
    kernel void load_##name##_##type(global uint *cells, global const uint *index, global uint *bad, uint n) \
    {                                                                                                 \
        uint l = (uint)get_local_id(0), wrong = 0;                                                    \
        volatile global type *mine = (volatile global type *)cells + (at);                            \
        for (uint i = 0; i < n; i++)                                                                  \
            wrong += wrong_##type(*mine);                                                             \
        bad[l] = wrong;                                                                               \
    }                                                                                                 \
    kernel void store_##name##_##type(global uint *cells, global const uint *index, global uint *bad, uint n) \
    {                                                                                                 \
        uint l = (uint)get_local_id(0);                                                               \
        volatile global type *mine = (volatile global type *)cells + (at);                            \
        for (uint i = 0; i < n; i++)                                                                  \
            *mine = (type)(i);                                                                        \
        bad[l] = 0;                                                                                   \
    }

#define BOTH(name, at) KERNELS(name, pair, at) KERNELS(name, four, at)

BOTH(same, 3)
BOTH(line, l)
BOTH(apart, 3 * l)
BOTH(back, 63 - l)
BOTH(table, l ^ 5)
BOTH(some, (l & 32) + (l & 7))
BOTH(index, index[l])

// Elements that reach into the next ones, of which every other or every fourth is aligned.
#define OVERLAPPING(name, step)                                                                       \
    kernel void load_##name##_pair(global uint *cells, global const uint *index, global uint *bad, uint n) \
    {                                                                                                 \
        uint l = (uint)get_local_id(0), wrong = 0;                                                    \
        volatile global uint *mine = cells + step * l;                                                \
        for (uint i = 0; i < n; i++) {                                                                \
            any_pair v = *(volatile global any_pair *)mine;                                           \
            wrong += (step * l) % 2 == 0 && wrong_pair(v);                                            \
        }                                                                                             \
        bad[l] = wrong;                                                                               \
    }                                                                                                 \
    kernel void load_##name##_four(global uint *cells, global const uint *index, global uint *bad, uint n) \
    {                                                                                                 \
        uint l = (uint)get_local_id(0), wrong = 0;                                                    \
        volatile global uint *mine = cells + step * l;                                                \
        for (uint i = 0; i < n; i++) {                                                                \
            any_four v = *(volatile global any_four *)mine;                                           \
            wrong += (step * l) % 4 == 0 && wrong_four(v);                                            \
        }                                                                                             \
        bad[l] = wrong;                                                                               \
    }

OVERLAPPING(dwords, 1)
OVERLAPPING(halves, 2)
OVERLAPPING(threes, 3)
OVERLAPPING(fives, 5)
OVERLAPPING(sixes, 6)
