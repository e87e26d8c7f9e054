#pragma once

#include <array>
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
};

/// A frame that waits for its decoder.
struct LdpcFrame {
    const fec::Dvbs2Code* code;
    std::span<const fec::Llr> llrs;       ///< n
    std::span<std::uint8_t> information;  ///< k_ldpc packed bits
    fec::LdpcResult* result;
};

/// Decodes batches of frames of any codes on a device: those of one code together, all codes at once. A copy
/// shares the device and nothing else.
class DeviceLdpcCodes {
  public:
    DeviceLdpcCodes(LdpcOnDevice where, const fec::LdpcSettings& settings)
        : where_(std::move(where)), settings_(settings) {}
    DeviceLdpcCodes(const DeviceLdpcCodes& other) : DeviceLdpcCodes(other.where_, other.settings_) {}
    DeviceLdpcCodes& operator=(const DeviceLdpcCodes&) = delete;
    ~DeviceLdpcCodes() = default;

    /// At most LdpcOnDevice::most_frames frames. Those that have not converged at the end of the fast
    /// iterations are the caller's to decode. Throws DeviceError; then none of them is decoded.
    void decode(std::span<const LdpcFrame> frames);

  private:
    // The frames of one code in this batch, and the memory that they take, made when first needed.
    struct Share {
        std::vector<const LdpcFrame*> frames{};
        std::unique_ptr<DeviceLdpcBatch> batch{};
    };

    void start(Share& share);
    static void finish(Share& share);

    LdpcOnDevice where_;
    fec::LdpcSettings settings_;
    std::array<Share, 21> shares_{};
};

}  // namespace tidemill::dvbs2
