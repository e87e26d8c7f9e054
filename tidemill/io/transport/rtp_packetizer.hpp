#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace tidemill::io {

/// Start of an RTP stream; RFC 3550, 5.1 wants all three by chance.
struct RtpStart {
    std::uint32_t source = 0;  ///< SSRC
    std::uint16_t sequence = 0;
    std::uint32_t timestamp = 0;
};

/// An RtpStart by chance.
RtpStart random_rtp_start();

/// Puts transport stream packets into RTP packets (RFC 3550, RFC 2250): payload type 33, a clock of 90 kHz.
class RtpPacketizer {
  public:
    static constexpr std::size_t kHeaderBytes = 12;

    explicit RtpPacketizer(const RtpStart& start) : start_(start), sequence_(start.sequence) {}

    /// The RTP packet of whole packets that leave so many seconds after the first; valid until the next call.
    /// The marker says that their clock jumps (RFC 2250, 2).
    std::span<const std::uint8_t> packet(std::span<const std::uint8_t> packets, double at_s,
                                         bool jumps = false);

  private:
    RtpStart start_;
    std::uint16_t sequence_;
    std::vector<std::uint8_t> bytes_{};
};

}  // namespace tidemill::io
