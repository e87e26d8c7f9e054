// Adds 1 to every number: as little work per byte as there can be.
__kernel void increment(__global uint* numbers, uint count) {
    for (size_t i = get_global_id(0); i < count; i += get_global_size(0)) numbers[i] += 1;
}
