#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "tidemill/fec/dvbs2_code.hpp"
#include "tidemill/fec/ldpc_decoder.hpp"
#include "tidemill/fec/ldpc_settings.hpp"
#include "tidemill/gpu/device/device.hpp"

namespace tidemill {

class DeviceTokens;

}  // namespace tidemill

namespace tidemill::dvbs2 {

/// Decoder of one code's frames on a device: the kernel and the code's tables, once per device. A device does
/// the fast iterations alone; frames that have not converged by then are the host's, from their LLRs on.
class DeviceLdpc {
  public:
    /// Posteriors lie in local memory where `local_bytes` are enough: by default those of the device. Throws
    /// FecError when a setting is out of its range, DeviceError when the device cannot do it, or takes longer
    /// than `patience` to copy the tables.
    DeviceLdpc(std::shared_ptr<Device> device, const fec::Dvbs2Code& code,
               const fec::LdpcSettings& settings = {}, std::optional<std::size_t> local_bytes = {},
               std::chrono::milliseconds patience = std::chrono::seconds(20));

    const fec::Dvbs2Code& code() const { return code_; }
    Device& device() const { return *device_; }

  private:
    friend class DeviceLdpcBatch;

    std::unique_ptr<DeviceMemory> filled(const void* data, std::size_t bytes,
                                         std::chrono::milliseconds patience);

    std::shared_ptr<Device> device_;
    fec::Dvbs2Code code_;
    int iterations_;
    bool stop_early_;
    std::size_t edges_;
    std::size_t local_bytes_;
    bool posteriors_are_local_;
    std::unique_ptr<DeviceKernel> kernel_;
    std::unique_ptr<DeviceMemory> shape_;
    std::unique_ptr<DeviceMemory> tables_;
};

/// Device time of a batch, in microseconds.
struct DeviceBatchTimes {
    double to_device_us;
    double kernel_us;
    double to_host_us;
};

/// Memory for a batch of frames on their way through a device. Several may be in flight, each on its own
/// queue.
class DeviceLdpcBatch {
  public:
    DeviceLdpcBatch(std::shared_ptr<DeviceLdpc> ldpc, std::size_t most_frames, MemoryPolicy policy);

    std::size_t most_frames() const { return most_frames_; }
    /// n LLRs of each frame, one frame behind the other; to be written before start().
    std::span<fec::Llr> llrs() { return llrs_->host_as<fec::Llr>(); }
    /// k_ldpc packed bits of each frame, as LdpcDecoder would have them after as many iterations; to be read
    /// after finish().
    std::span<const std::uint8_t> information() const { return information_->host_as<std::uint8_t>(); }
    fec::LdpcResult result(std::size_t frame) const;

    /// Sends off the first `frames` frames; loud LLRs are halved in place. Throws DeviceError.
    void start(std::size_t frames);
    /// The same for frames of n LLRs that lie anywhere; what lies in `tokens` is copied to the device from
    /// there, and must stay until finish(). Of memory under MemoryPolicy::pinned.
    void start(std::span<const fec::Llr* const> frames, const DeviceTokens& tokens);
    /// Whether what was sent off is done.
    bool done() { return (end_ ? end_ : computed_)->done(); }
    /// Waits for it, but no longer than that. Throws DeviceError.
    void finish(std::chrono::milliseconds patience = std::chrono::seconds(20));
    DeviceBatchTimes times();

  private:
    void check_count(std::size_t frames) const;
    void bring_into_range(std::size_t frames);
    const fec::Llr* within_reach(const fec::Llr* frame, std::size_t place, const DeviceTokens& tokens);
    void copy_rows(std::span<const fec::Llr* const> frames);
    void compute(std::size_t frames);
    void send_back();
    void wait(DeviceEvent& event, std::chrono::milliseconds patience) const;

    std::shared_ptr<DeviceLdpc> ldpc_;
    std::size_t most_frames_;
    std::size_t frames_ = 0;
    std::unique_ptr<DeviceMemory> llrs_;
    std::unique_ptr<DeviceMemory> information_;
    std::unique_ptr<DeviceMemory> results_;
    std::unique_ptr<DeviceMemory> messages_;
    std::unique_ptr<DeviceMemory> posteriors_;
    std::unique_ptr<DeviceQueue>
        queue_;  // behind the memory, so that what is in flight ends before that goes
    std::unique_ptr<DeviceEvent> begin_, copied_, computed_, end_;
};

}  // namespace tidemill::dvbs2
