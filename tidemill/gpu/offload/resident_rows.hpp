#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tidemill/gpu/device/device.hpp"
#include "tidemill/gpu/offload/device_tokens.hpp"

namespace tidemill {

/// Frames that one task leaves on a device for the next one there: MemoryPolicy::resident between two tasks.
/// Each frame of the tokens that both work on has a row of the device's own memory, which is its frame's for
/// as long as the token is: nothing has to be given back, whatever becomes of the frame. Tasks of different
/// threads may share it.
class ResidentRows {
  public:
    /// Rows of so many bytes. `tokens` are those that the run takes: PipelineOptions::memory.
    ResidentRows(std::shared_ptr<Device> device, std::shared_ptr<DeviceTokens> tokens, std::size_t row_bytes)
        : device_(std::move(device)), tokens_(std::move(tokens)), row_bytes_(row_bytes) {}

    Device& device() const { return *device_; }
    std::size_t row_bytes() const { return row_bytes_; }

    /// Rows of a batch's frames, all in one memory.
    struct Rows {
        DeviceMemory* memory = nullptr;
        std::vector<std::uint32_t> indices{};
        std::uint64_t* numbers = nullptr;  ///< [index]: 1 more than that of the frame that was left there
    };

    /// Those of the frames whose tokens hold these bytes; nothing where some lie elsewhere (in a run whose
    /// tokens are not of that memory, or that has none), or the device has no room for so many rows: then
    /// both tasks have their frames cross.
    std::optional<Rows> rows_of(std::span<const std::byte* const> in_tokens);

    /// Why frames cross for want of room; empty: they do not.
    std::string shortage() const;

  private:
    // Rows of a block of tokens, made when first needed; without memory where there was no room.
    struct Block {
        std::unique_ptr<DeviceMemory> memory{};
        std::vector<std::uint64_t> numbers{};
        bool is_refused = false;
    };

    Block& block_for(const DeviceTokens::Place& place);

    std::shared_ptr<Device> device_;
    std::shared_ptr<DeviceTokens> tokens_;
    std::size_t row_bytes_;
    mutable std::mutex mutex_;
    std::vector<std::unique_ptr<Block>> blocks_;
    std::string shortage_{};
};

}  // namespace tidemill
