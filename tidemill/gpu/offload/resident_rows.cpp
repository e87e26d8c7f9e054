#include "tidemill/gpu/offload/resident_rows.hpp"

#include <fmt/format.h>

#include "tidemill/gpu/device/device_error.hpp"

namespace tidemill {

std::optional<ResidentRows::Rows> ResidentRows::rows_of(std::span<const std::byte* const> in_tokens) {
    Rows rows;
    std::optional<std::size_t> block;
    const std::lock_guard lock(mutex_);
    for (const std::byte* byte : in_tokens) {
        const auto place = tokens_->place_of(byte);
        if (!place || (block && *block != place->block)) return {};
        block = place->block;
        Block& here = block_for(*place);
        if (here.is_refused) return {};
        rows.memory = here.memory.get();
        rows.numbers = here.numbers.data();
        rows.indices.push_back(static_cast<std::uint32_t>(place->frame));
    }
    if (rows.indices.empty()) return {};
    return rows;
}

// The tokens of a block are those of another ring when there are more of them: nothing is left of the one
// before.
ResidentRows::Block& ResidentRows::block_for(const DeviceTokens::Place& place) {
    while (blocks_.size() <= place.block) blocks_.push_back(std::make_unique<Block>());
    Block& block = *blocks_[place.block];
    if (block.is_refused || block.numbers.size() >= place.frames) return block;
    try {
        block.memory.reset();
        block.memory = device_->allocate(place.frames * row_bytes_, MemoryPolicy::resident);
        block.numbers.assign(place.frames, 0);
    } catch (const DeviceMemoryError& error) {
        block.is_refused = true;
        shortage_ = fmt::format("{} frames of {} bytes do not stay on the device, but cross: {}",
                                place.frames, row_bytes_, error.what());
    }
    return block;
}

std::string ResidentRows::shortage() const {
    const std::lock_guard lock(mutex_);
    return shortage_;
}

}  // namespace tidemill
