#include "tidemill/io/ts_section.hpp"

#include "tidemill/io/crc32.hpp"

namespace tidemill::io {
namespace {

// ISO/IEC 13818-1: 2.4.3.3 for packets, 2.4.4 for sections.
constexpr std::size_t kMostSectionBytes = 4096;
constexpr std::uint8_t kStuffing = 0xff;
constexpr std::size_t kLeastSectionBytes = 12;

}  // namespace

void SectionCollector::add(std::span<const std::uint8_t> packet) {
    const bool adapted = (packet[3] & 0x20) != 0;
    const std::size_t skipped = adapted ? 1 + std::size_t{packet[4]} : 0;
    if (!has_payload(packet) || 4 + skipped >= packet.size()) return;
    auto payload = packet.subspan(4 + skipped);
    bytes_.erase(bytes_.begin(), bytes_.begin() + static_cast<std::ptrdiff_t>(taken_));
    taken_ = 0;
    if ((packet[1] & 0x40) != 0) {  // a section starts behind the pointer
        const std::size_t start = 1 + std::size_t{payload[0]};
        bytes_.clear();
        if (start >= payload.size()) return;
        payload = payload.subspan(start);
    } else if (bytes_.empty()) {
        return;
    }
    bytes_.insert(bytes_.end(), payload.begin(), payload.end());
    if (bytes_.size() > kMostSectionBytes + kTsPacketBytes) bytes_.clear();
}

std::optional<std::span<const std::uint8_t>> SectionCollector::next() {
    while (bytes_.size() >= taken_ + 3 && bytes_[taken_] != kStuffing) {
        const auto rest = std::span<const std::uint8_t>(bytes_).subspan(taken_);
        const std::size_t length = 3 + (static_cast<std::size_t>(rest[1] & 0x0f) << 8 | rest[2]);
        if (rest.size() < length) return std::nullopt;
        taken_ += length;
        if (length >= kLeastSectionBytes && crc32_mpeg(rest.first(length)) == 0) return rest.first(length);
    }
    return std::nullopt;
}

}  // namespace tidemill::io
