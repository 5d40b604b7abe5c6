// What depends on the order in which lanes, waves and workgroups run. Within a wave lanes go in
// lockstep, so that a wave needs no barrier; waves of a group and groups wait for one another.
#define SYNC(scope) memory_order_acq_rel, memory_scope_##scope

// Workgroups of one wave.
kernel void reverse_local(global uint *out, global const uint *in)
{
    volatile local uint tile[64];
    size_t i = get_global_id(0), lane = get_local_id(0);
    tile[lane] = in[i];
    out[i] = tile[63 - lane];
}

kernel void reverse_global(volatile global uint *data)
{
    size_t base = get_global_id(0) & ~(size_t)63, lane = get_local_id(0);
    uint value = data[base + lane];
    data[base + (63 - lane)] = value;
}

// A step of a scan reads what all lanes wrote in the step before.
kernel void scan_local(global uint *out, global const uint *in)
{
    volatile local uint tile[64];
    size_t i = get_global_id(0), lane = get_local_id(0);
    uint sum = in[i];
    for (uint d = 1; d < 64; d *= 2) {
        tile[lane] = sum;
        if (lane >= d)
            sum += tile[lane - d];
    }
    out[i] = sum;
}

kernel void scan_global(volatile global uint *data)
{
    size_t i = get_global_id(0), lane = get_local_id(0);
    for (uint d = 1; d < 64; d *= 2)
        if (lane >= d)
            data[i] += data[i - d];
}

// Lanes of a loop that leave it at different times, exchanging all the while.
kernel void shuffle(volatile global uint *data, global uint *out, uint rounds)
{
    size_t base = get_global_id(0) & ~(size_t)63, lane = get_local_id(0);
    uint value = (uint)lane;
    for (uint k = 0; k < rounds + lane % 7; k++) {
        data[base + lane] = value * 5 + k;
        value = data[base + ((lane * 7 + k) & 63)];
    }
    out[base + lane] = value;
}

// All lanes write one place; the highest active one stays.
kernel void last_lane(global uint *out, global const uint *in)
{
    volatile local uint tile[4];
    size_t i = get_global_id(0), group = get_group_id(0);
    if (in[i] & 1) {
        tile[in[i] >> 1 & 3] = in[i];
        ((volatile global uint *)out)[group * 8 + 4 + (in[i] >> 3 & 3)] = in[i];
    }
    if (get_local_id(0) < 4)
        out[group * 8 + get_local_id(0)] = tile[get_local_id(0)];
}

// Prefix sums over all groups in one pass: each group publishes its own sum, then adds up what the
// groups before it have published until it finds one that knows its whole prefix.
#define OWN (1ul << 32)
#define PREFIX (2ul << 32)

kernel void look_back(global uint *out, global const uint *in, global atomic_ulong *state)
{
    local uint tile[256];
    local uint before[1];
    uint lid = (uint)get_local_id(0), group = (uint)get_group_id(0);
    uint count = (uint)get_local_size(0);
    size_t i = get_global_id(0);
    tile[lid] = in[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint d = 1; d < count; d *= 2) {
        uint other = lid >= d ? tile[lid - d] : 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        tile[lid] += other;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (lid == 0) {
        uint sum = tile[count - 1], prefix = 0;
        atomic_store_explicit(&state[group], (group == 0 ? PREFIX : OWN) | sum,
                              memory_order_release, memory_scope_device);
        for (uint g = group; g > 0; g--) {
            ulong seen;
            do
                seen = atomic_load_explicit(&state[g - 1], memory_order_acquire,
                                            memory_scope_device);
            while (seen < OWN);
            prefix += (uint)seen;
            if (seen >= PREFIX)
                break;
        }
        if (group != 0)
            atomic_store_explicit(&state[group], PREFIX | (prefix + sum), memory_order_release,
                                  memory_scope_device);
        before[0] = prefix;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    out[i] = before[0] + tile[lid];
}

// Waves of a group pass a number on, from the last to the first and round again, without barriers.
kernel void relay(global uint *out, uint rounds)
{
    local atomic_uint turn;
    volatile local uint value[1];
    uint wave = (uint)get_local_id(0) / 64, waves = (uint)get_local_size(0) / 64;
    if (get_local_id(0) == 0) {
        atomic_init(&turn, 0);
        value[0] = 1;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) % 64 == 0) {
        for (uint k = 0; k < rounds; k++) {
            uint mine = k * waves + (waves - 1 - wave);
            while (atomic_load_explicit(&turn, memory_order_acquire, memory_scope_work_group)
                   != mine)
                ;
            value[0] = value[0] * 3 + wave;
            atomic_store_explicit(&turn, mine + 1, memory_order_release, memory_scope_work_group);
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) == 0)
        out[get_group_id(0)] = value[0];
}

// Each group waits for the one before it.
kernel void chain(global uint *out, global atomic_uint *turn)
{
    uint group = (uint)get_group_id(0);
    if (get_local_id(0) == 0) {
        while (atomic_load_explicit(turn, memory_order_acquire, memory_scope_device) != group)
            ;
        out[group] = group == 0 ? 1 : out[group - 1] * 3 + group;
        atomic_store_explicit(turn, group + 1, memory_order_release, memory_scope_device);
    }
}

// A lock that one lane of a wave takes at a time.
kernel void locked(volatile global uint *data, global atomic_uint *lock)
{
    uint lane = (uint)get_local_id(0) & 63;
    for (uint k = 0; k < 64; k++) {
        if (lane == k) {
            uint expected = 0;
            while (!atomic_compare_exchange_strong_explicit(lock, &expected, 1u,
                       memory_order_acquire, memory_order_relaxed, memory_scope_device))
                expected = 0;
            data[0] += 1;
            data[1] = data[1] * 5 + 1;
            atomic_store_explicit(lock, 0u, memory_order_release, memory_scope_device);
        }
    }
}

// The same as people write it first: the lane that has the lock leaves the loop, and in lockstep
// waits behind it for the lanes that wait for the lock.
kernel void deadlock(volatile global uint *data, global atomic_uint *lock)
{
    uint expected = 0;
    while (!atomic_compare_exchange_strong_explicit(lock, &expected, 1u, memory_order_acquire,
               memory_order_relaxed, memory_scope_device))
        expected = 0;
    data[0] += 1;
    atomic_store_explicit(lock, 0u, memory_order_release, memory_scope_device);
}

// A tree over the largest group that there is.
__attribute__((amdgpu_flat_work_group_size(1, 1024)))
kernel void tree(global ulong *out, global const uint *in)
{
    local ulong tile[1024];
    uint lid = (uint)get_local_id(0), count = (uint)get_local_size(0);
    tile[lid] = in[get_global_id(0)];
    for (uint step = count / 2; step > 0; step /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lid < step)
            tile[lid] = tile[lid] * 3 + tile[lid + step];
    }
    if (lid == 0)
        out[get_group_id(0)] = tile[0];
}

// Waves that end before the others reach their barriers.
__attribute__((amdgpu_flat_work_group_size(1, 1024)))
kernel void leaving(global uint *out, uint rounds)
{
    local atomic_uint count;
    uint wave = (uint)get_local_id(0) / 64;
    if (get_local_id(0) == 0)
        atomic_init(&count, 0);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint k = 0; k < rounds; k++) {
        if (wave + k >= 15)
            return;
        atomic_fetch_add_explicit(&count, 1u << wave, memory_order_relaxed,
                                  memory_scope_work_group);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    out[get_global_id(0)] = atomic_load(&count);
}
