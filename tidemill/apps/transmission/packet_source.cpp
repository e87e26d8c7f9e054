#include "tidemill/apps/transmission/packet_source.hpp"

#include <algorithm>

#include "tidemill/io/transport/ts_packet.hpp"

namespace tidemill::cli {

namespace {

constexpr std::size_t kPacketsAtATime = 64;
constexpr std::uint8_t kPidHigh = 0x01;  // PID 0x100: neither reserved nor null (ISO/IEC 13818-1, 2.4.3.3)
constexpr std::uint8_t kPayloadOnly = 0x10;

}  // namespace

PacketSource::PacketSource(std::vector<std::uint8_t> packets, std::uint64_t repeats)
    : packets_(std::move(packets)), left_(packets_.empty() ? 0 : repeats) {}

PacketSource PacketSource::random(std::uint64_t count, std::uint64_t seed) {
    PacketSource source({}, 0);
    source.is_random_ = true;
    source.left_ = count;
    source.generator_.seed(seed);
    return source;
}

std::span<const std::uint8_t> PacketSource::next() {
    if (left_ == 0) return {};
    return is_random_ ? next_random() : next_of_file();
}

std::span<const std::uint8_t> PacketSource::next_of_file() {
    const std::size_t bytes = std::min(kPacketsAtATime * io::kTsPacketBytes, packets_.size() - offset_);
    const auto packets = std::span(packets_).subspan(offset_, bytes);
    offset_ = (offset_ + bytes) % packets_.size();
    if (offset_ == 0) --left_;
    return packets;
}

std::span<const std::uint8_t> PacketSource::next_random() {
    const std::uint64_t count = std::min<std::uint64_t>(kPacketsAtATime, left_);
    left_ -= count;
    packets_.resize(count * io::kTsPacketBytes);
    std::ranges::generate(packets_, [&] { return static_cast<std::uint8_t>(generator_() >> 56); });
    for (std::size_t at = 0; at < packets_.size(); at += io::kTsPacketBytes) {
        packets_[at] = io::kTsSyncByte;
        packets_[at + 1] = kPidHigh;
        packets_[at + 2] = 0;
        packets_[at + 3] = kPayloadOnly | continuity_;
        continuity_ = (continuity_ + 1) & 15;
    }
    return packets_;
}

}  // namespace tidemill::cli
