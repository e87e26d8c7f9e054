#include "tidemill/dvbs2/device/device_tokens.hpp"

#include <algorithm>

#include "tidemill/device/device_error.hpp"

namespace tidemill::dvbs2 {

// The least of those that are free and large enough.
std::byte* DeviceTokens::take(std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    Block* best = nullptr;
    for (Block& block : blocks_) {
        const std::size_t size = block.bytes().size();
        if (!block.is_lent && size >= bytes && (!best || size < best->bytes().size())) best = &block;
    }
    if (!best) best = &blocks_.emplace_back(new_block(bytes));
    best->is_lent = true;
    return best->bytes().data();
}

// Memory of the host that the device maps is registered with it, and needs no twin there.
DeviceTokens::Block DeviceTokens::new_block(std::size_t bytes) const {
    try {
        return {device_->allocate(bytes, MemoryPolicy::mapped)};
    } catch (const DeviceError&) {
        return {nullptr, Arena(bytes)};
    }
}

void DeviceTokens::give_back(std::byte* begin) {
    const std::lock_guard lock(mutex_);
    std::ranges::find(blocks_, begin, [](const Block& block) { return block.bytes().data(); })->is_lent =
        false;
}

bool DeviceTokens::holds(std::span<const std::byte> bytes) const {
    const std::lock_guard lock(mutex_);
    return std::ranges::any_of(blocks_, [&](const Block& block) {
        const std::span<std::byte> own = block.bytes();
        return block.registered && bytes.data() >= own.data() &&
               bytes.data() + bytes.size() <= own.data() + own.size();
    });
}

std::size_t DeviceTokens::blocks() const {
    const std::lock_guard lock(mutex_);
    return blocks_.size();
}

}  // namespace tidemill::dvbs2
