// Who a work-item is.
kernel void ids(global uint *out, uint width, uint height)
{
    size_t x = get_global_id(0) - get_global_offset(0);
    size_t y = get_global_id(1) - get_global_offset(1);
    size_t z = get_global_id(2) - get_global_offset(2);
    global uint *mine = out + ((z * height + y) * width + x) * 24;
    for (uint d = 0; d < 3; d++) {
        mine[d] = (uint)get_global_id(d);
        mine[3 + d] = (uint)get_local_id(d);
        mine[6 + d] = (uint)get_group_id(d);
        mine[9 + d] = (uint)get_global_size(d);
        mine[12 + d] = (uint)get_local_size(d);
        mine[15 + d] = (uint)get_num_groups(d);
        mine[18 + d] = (uint)get_global_offset(d);
    }
    mine[21] = get_work_dim();
    mine[22] = (uint)(get_global_offset(0) >> 32);
    mine[23] = (uint)get_local_id(0) + ((uint)get_local_id(1) + (uint)get_local_id(2)
             * (uint)get_local_size(1)) * (uint)get_local_size(0);
}

// One word of each group.
kernel void mark(global uint *out)
{
    if (get_group_id(0) % 65536 == 0)
        out[get_group_id(0) / 65536] = (uint)get_group_id(0) + 1;
}

// One word of the last groups of a grid of any size.
kernel void far(global ulong *out)
{
    ulong group = ((ulong)get_group_id(2) * get_num_groups(1) + get_group_id(1)) * get_num_groups(0)
                + get_group_id(0);
    ulong total = (ulong)get_num_groups(0) * get_num_groups(1) * get_num_groups(2);
    if (get_local_id(0) == 0 && group + 16 >= total)
        out[15 - (total - 1 - group)] = group;
}

kernel void count(global atomic_uint *total, global uint *data, uint step)
{
    size_t i = get_global_id(0);
    data[i] += step;
    atomic_fetch_add_explicit(total, step, memory_order_relaxed, memory_scope_device);
}
