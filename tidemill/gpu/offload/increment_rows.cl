// Adds 1 to every number of some rows, and writes it into others: `parts` groups a row. `rows` are where the first
// ones lie, in rows from `from` on, and behind these the same of the others from `to` on.
__kernel void increment_rows(__global const uint* from, __global uint* to, __global const uint* rows, uint frames,
                             uint numbers, uint parts) {
    const uint frame = (uint)get_group_id(0) / parts, part = (uint)get_group_id(0) % parts;
    __global const uint* read = from + rows[frame] * (size_t)numbers;
    __global uint* written = to + rows[frames + frame] * (size_t)numbers;
    const uint items = (uint)get_local_size(0);
    for (uint i = part * items + (uint)get_local_id(0); i < numbers; i += parts * items) written[i] = read[i] + 1;
}
