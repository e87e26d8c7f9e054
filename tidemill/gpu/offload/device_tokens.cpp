#include "tidemill/gpu/offload/device_tokens.hpp"

#include <algorithm>

#include "tidemill/gpu/device/device_error.hpp"

namespace tidemill {

// The least of those that are free and large enough.
std::byte* DeviceTokens::take(std::size_t frames, std::size_t frame_bytes) {
    const std::lock_guard lock(mutex_);
    const std::size_t bytes = frames * frame_bytes;
    Block* best = nullptr;
    for (Block& block : blocks_) {
        const std::size_t size = block.bytes().size();
        if (!block.is_lent && size >= bytes && (!best || size < best->bytes().size())) best = &block;
    }
    if (!best) best = &blocks_.emplace_back(new_block(bytes));
    best->is_lent = true;
    best->frames = frames;
    best->frame_bytes = frame_bytes;
    return best->bytes().data();
}

// Memory of the host that the device maps is registered with it, and needs no twin there.
DeviceTokens::Block DeviceTokens::new_block(std::size_t bytes) {
    try {
        return {device_->allocate(bytes, MemoryPolicy::mapped)};
    } catch (const DeviceError& error) {
        if (refused_++ == 0) refusal_ = error.what();
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
    return std::ranges::any_of(blocks_,
                               [&](const Block& block) { return block.registered && block.has(bytes); });
}

std::optional<DeviceTokens::Place> DeviceTokens::place_of(const std::byte* byte) const {
    const std::lock_guard lock(mutex_);
    const auto block = std::ranges::find_if(blocks_, [&](const Block& each) {
        return each.is_lent && each.has({byte, 1});
    });
    if (block == blocks_.end()) return {};
    const auto offset = static_cast<std::size_t>(byte - block->bytes().data());
    return Place{static_cast<std::size_t>(block - blocks_.begin()), offset / block->frame_bytes,
                 block->frames};
}

std::size_t DeviceTokens::blocks() const {
    const std::lock_guard lock(mutex_);
    return blocks_.size();
}

std::size_t DeviceTokens::refused() const {
    const std::lock_guard lock(mutex_);
    return refused_;
}

std::string DeviceTokens::refusal() const {
    const std::lock_guard lock(mutex_);
    return refusal_;
}

}  // namespace tidemill
