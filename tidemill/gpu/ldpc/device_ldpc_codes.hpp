#pragma once

#include <array>
#include <chrono>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tidemill/dvbs2/receiver/ldpc_offload.hpp"
#include "tidemill/gpu/device/device_error.hpp"
#include "tidemill/gpu/ldpc/device_ldpc.hpp"
#include "tidemill/gpu/offload/device_tokens.hpp"
#include "tidemill/scheduling/static/batch_line.hpp"

namespace tidemill::dvbs2 {

/// Where the LDPC frames of a receiver are decoded, if not on the host.
struct LdpcOnDevice {
    std::shared_ptr<Device> device;
    MemoryPolicy memory = MemoryPolicy::copy;
    /// Where the run's tokens lie, so that frames are copied from there under MemoryPolicy::pinned; null:
    /// they are gathered first.
    std::shared_ptr<DeviceTokens> tokens{};
    std::uint32_t most_frames = 128;  ///< of a batch
    bool falls_back = false;          ///< goes on with the host where the device fails
    std::uint32_t in_flight = kBatchesUnderWay;
    std::chrono::milliseconds patience = std::chrono::seconds(20);  ///< a batch that takes longer hangs
};

/// Decodes batches of frames on a device: those of one code together, all codes at once. Where the device's
/// memory has no room for a whole batch of a code, halves of it, quarters, ... follow each other. Functions
/// throw DeviceError.
class DeviceLdpcCodes final : public LdpcBatches {
  public:
    DeviceLdpcCodes(LdpcOnDevice where, const fec::LdpcSettings& settings)
        : where_(std::move(where)),
          settings_(settings),
          places_(where_.in_flight),
          most_frames_(where_.most_frames) {}

    std::size_t places() const { return places_.size(); }
    std::chrono::milliseconds patience() const { return where_.patience; }
    /// Most frames of a code at a time: fewer than LdpcOnDevice::most_frames where memory was short.
    std::size_t most_frames() const { return most_frames_; }
    const std::string& shortage() const override { return shortage_; }

    void begin(std::size_t place, std::span<const LdpcFrame> frames) override;
    bool is_done(std::size_t place) override;
    void end(std::size_t place) override;
    /// Device time of what has just ended there, and was not parted for want of memory.
    DeviceBatchTimes times(std::size_t place);

  private:
    // The frames of one code in a batch, and the memory that they take, made when first needed.
    struct Share {
        std::vector<const LdpcFrame*> frames{};
        std::size_t begun = 0;      // of the frames
        std::size_t under_way = 0;  // the last of those
        std::unique_ptr<DeviceLdpcBatch> batch{};

        bool is_through() const { return under_way == 0 && begun == frames.size(); }
    };
    using Place = std::array<Share, 21>;

    void begin(Share& share);
    void make_batch(Share& share);
    void send(Share& share);
    void go_on(Share& share);
    void take_back(Share& share) const;
    void use_less(const DeviceMemoryError& error);
    void give_up_memory();

    LdpcOnDevice where_;
    fec::LdpcSettings settings_;
    std::array<std::shared_ptr<DeviceLdpc>, 21> codes_{};
    std::vector<Place> places_;
    std::size_t most_frames_;
    std::string shortage_{};
};

/// For a receiver's configuration.
std::shared_ptr<const LdpcOffload> elsewhere(const LdpcOnDevice& device);

}  // namespace tidemill::dvbs2
