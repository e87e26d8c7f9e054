#include "tidemill/io/transport/rtp_packetizer.hpp"

#include <cmath>
#include <random>

namespace tidemill::io {
namespace {

constexpr std::uint8_t kVersion2 = 0x80;
constexpr std::uint8_t kMarker = 0x80;
constexpr std::uint8_t kTransportStream = 33;  // RFC 3551, 6
constexpr double kRtpClockHz = 90e3;

void append_big_endian(std::vector<std::uint8_t>& bytes, std::uint32_t value, int count) {
    for (int shift = 8 * (count - 1); shift >= 0; shift -= 8)
        bytes.push_back(static_cast<std::uint8_t>(value >> shift));
}

}  // namespace

RtpStart random_rtp_start() {
    std::random_device chance;
    return {chance(), static_cast<std::uint16_t>(chance()), chance()};
}

std::span<const std::uint8_t> RtpPacketizer::packet(std::span<const std::uint8_t> packets, double at_s,
                                                    bool jumps) {
    // Modulo 2^32, which is half a day of this clock.
    const auto ticks = static_cast<std::uint64_t>(std::llround(at_s * kRtpClockHz));
    bytes_.clear();
    bytes_.push_back(kVersion2);
    bytes_.push_back(static_cast<std::uint8_t>(kTransportStream | (jumps ? kMarker : 0)));
    append_big_endian(bytes_, sequence_++, 2);
    append_big_endian(bytes_, start_.timestamp + static_cast<std::uint32_t>(ticks), 4);
    append_big_endian(bytes_, start_.source, 4);
    bytes_.insert(bytes_.end(), packets.begin(), packets.end());
    return bytes_;
}

}  // namespace tidemill::io
