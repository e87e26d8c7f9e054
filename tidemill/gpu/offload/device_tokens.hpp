#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tidemill/gpu/device/device.hpp"
#include "tidemill/runtime/graph/arena.hpp"
#include "tidemill/runtime/threads/token_memory.hpp"

namespace tidemill {

/// Memory for tokens that a device copies from by itself. What is registered with the device once stays so,
/// and serves the rings of the next schedule.
class DeviceTokens final : public TokenMemory {
  public:
    explicit DeviceTokens(std::shared_ptr<Device> device) : device_(std::move(device)) {}

    /// The program's own memory, which the device does not reach, where it refuses: that is counted.
    std::byte* take(std::size_t frames, std::size_t frame_bytes) override;
    void give_back(std::byte* begin) override;

    /// Whether the device copies from there by itself. From any thread.
    bool holds(std::span<const std::byte> bytes) const;

    /// A frame's place in a block that is lent.
    struct Place {
        std::size_t block;   ///< its number
        std::size_t frame;   ///< from the block's begin
        std::size_t frames;  ///< for which it was lent
    };
    /// Place of the frame that this byte belongs to; nothing where it lies elsewhere. From any thread.
    std::optional<Place> place_of(const std::byte* byte) const;

    /// Blocks that there have ever been.
    std::size_t blocks() const;
    /// Number of those that the device refused.
    std::size_t refused() const;
    /// Why it refused the first of them.
    std::string refusal() const;

  private:
    struct Block {
        std::unique_ptr<DeviceMemory> registered{};
        Arena own{};  // where that is absent
        bool is_lent = true;
        std::size_t frames = 0;
        std::size_t frame_bytes = 0;

        std::span<std::byte> bytes() const {
            return registered ? registered->host() : std::span(own.data(), own.bytes());
        }
        bool has(std::span<const std::byte> some) const {
            return some.data() >= bytes().data() &&
                   some.data() + some.size() <= bytes().data() + bytes().size();
        }
    };

    Block new_block(std::size_t bytes);

    std::shared_ptr<Device> device_;
    mutable std::mutex mutex_;
    std::vector<Block> blocks_;
    std::size_t refused_ = 0;
    std::string refusal_{};
};

}  // namespace tidemill
