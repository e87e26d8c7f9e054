#pragma once

#include <array>
#include <chrono>
#include <memory>
#include <span>
#include <vector>

#include "tidemill/dvbs2/device/device_ldpc.hpp"

namespace tidemill::dvbs2 {

/// Where the LDPC frames of a receiver are decoded, if not on the host.
struct LdpcOnDevice {
    std::shared_ptr<Device> device;
    MemoryPolicy memory = MemoryPolicy::copy;
    std::uint32_t most_frames = 128;  ///< of a batch
    bool falls_back = false;          ///< goes on with the host where the device fails
    /// Batches under way at a time: one that is copied in, one in the kernel, one that is copied out, and one
    /// that the host has in its hands.
    std::uint32_t in_flight = 4;
    std::chrono::milliseconds patience = std::chrono::seconds(20);  ///< a batch that takes longer hangs
};

/// A frame that waits for its decoder.
struct LdpcFrame {
    const fec::Dvbs2Code* code;
    std::span<const fec::Llr> llrs;       ///< n
    std::span<std::uint8_t> information;  ///< k_ldpc packed bits
    fec::LdpcResult* result;
};

/// Decodes batches of frames of any codes on a device: those of one code together, all codes at once. Several
/// batches may be under way, each in a place of its own. A copy shares the device and nothing else.
class DeviceLdpcCodes {
  public:
    DeviceLdpcCodes(LdpcOnDevice where, const fec::LdpcSettings& settings)
        : where_(std::move(where)), settings_(settings), places_(where_.in_flight) {}
    DeviceLdpcCodes(const DeviceLdpcCodes& other) : DeviceLdpcCodes(other.where_, other.settings_) {}
    DeviceLdpcCodes& operator=(const DeviceLdpcCodes&) = delete;
    ~DeviceLdpcCodes() = default;

    std::size_t places() const { return places_.size(); }

    /// Sends off at most LdpcOnDevice::most_frames frames, in a place where nothing is under way. They must
    /// stay until their end. Throws DeviceError, and is of no use then.
    void begin(std::size_t place, std::span<const LdpcFrame> frames);
    /// Whether end() would not wait. Throws DeviceError.
    bool is_done(std::size_t place);
    /// Waits, and gives the frames their bits and results. Those that have not converged at the end of the
    /// fast iterations are the caller's to decode. Throws DeviceError; then none of them is decoded.
    void end(std::size_t place);

  private:
    // The frames of one code in a batch, and the memory that they take, made when first needed.
    struct Share {
        std::vector<const LdpcFrame*> frames{};
        std::unique_ptr<DeviceLdpcBatch> batch{};
    };
    using Place = std::array<Share, 21>;

    void begin(Share& share);
    void end(Share& share) const;

    LdpcOnDevice where_;
    fec::LdpcSettings settings_;
    std::array<std::shared_ptr<DeviceLdpc>, 21> codes_{};
    std::vector<Place> places_;
};

}  // namespace tidemill::dvbs2
