#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "tidemill/device/device.hpp"
#include "tidemill/graph/arena.hpp"
#include "tidemill/run/token_memory.hpp"

namespace tidemill::dvbs2 {

/// Memory for tokens that a device copies from by itself. What is registered with the device once stays so,
/// and serves the rings of the next schedule.
class DeviceTokens final : public TokenMemory {
  public:
    explicit DeviceTokens(std::shared_ptr<Device> device) : device_(std::move(device)) {}

    /// The program's own memory, which the device does not reach, where it refuses.
    std::byte* take(std::size_t bytes) override;
    void give_back(std::byte* begin) override;

    /// Whether the device copies from there by itself. From any thread.
    bool holds(std::span<const std::byte> bytes) const;
    /// Blocks that there have ever been.
    std::size_t blocks() const;

  private:
    struct Block {
        std::unique_ptr<DeviceMemory> registered{};
        Arena own{};  // where that is none
        bool is_lent = true;

        std::span<std::byte> bytes() const {
            return registered ? registered->host() : std::span(own.data(), own.bytes());
        }
    };

    Block new_block(std::size_t bytes) const;

    std::shared_ptr<Device> device_;
    mutable std::mutex mutex_;
    std::vector<Block> blocks_;
};

}  // namespace tidemill::dvbs2
