#include "tidemill/io/transport/ts_section.hpp"

#include <algorithm>
#include <utility>

#include "tidemill/io/transport/crc32.hpp"

namespace tidemill::io {
namespace {

// ISO/IEC 13818-1: 2.4.3.3 for packets, 2.4.4 for sections.
constexpr std::uint8_t kStuffing = 0xff;  // in the place of a section: up to the packet's end
constexpr std::size_t kHeadBytes = 3;     // with the length
constexpr std::size_t kLeastSectionBytes = 12;

}  // namespace

std::span<const std::uint8_t> payload_of(std::span<const std::uint8_t> packet) {
    const bool adapted = (packet[3] & 0x20) != 0;
    const std::size_t begin = 4 + (adapted ? 1 + std::size_t{packet[4]} : 0);
    if (!has_payload(packet) || begin >= packet.size()) return {};
    return packet.subspan(begin);
}

std::size_t SectionCollector::add(std::span<const std::uint8_t> packet) {
    const auto payload = payload_of(packet);
    const int count = packet[3] & 0x0f;
    if (payload.empty() || was_there(count, payload)) return 0;
    const bool follows = last_count_ < 0 || count == (last_count_ + 1) % 16;
    std::size_t lost = follows ? 0 : cut_off();
    last_count_ = count;
    last_payload_.assign(payload.begin(), payload.end());
    bytes_.erase(bytes_.begin(), bytes_.begin() + static_cast<std::ptrdiff_t>(std::exchange(taken_, 0)));
    const auto append = [this](std::span<const std::uint8_t> more) {
        bytes_.insert(bytes_.end(), more.begin(), more.end());
    };
    if (!starts_section(packet)) {
        if (has_begun()) append(payload);
        return lost;
    }
    const std::size_t before = std::min(std::size_t{payload[0]}, payload.size() - 1);
    if (has_begun()) append(payload.subspan(1, before));
    lost += cut_off();  // what is not whole now never will be
    append(payload.subspan(1 + before));
    return lost;
}

// Its adaptation field may be another one.
bool SectionCollector::was_there(int count, std::span<const std::uint8_t> payload) const {
    return count == last_count_ && std::ranges::equal(payload, last_payload_);
}

std::size_t SectionCollector::cut_off() {
    const std::size_t lost = has_begun() ? 1 : 0;
    bytes_.resize(whole_bytes());
    return lost;
}

// Its length; 0 where none is whole.
std::size_t SectionCollector::section_at(std::size_t at) const {
    if (bytes_.size() < at + kHeadBytes || bytes_[at] == kStuffing) return 0;
    const std::size_t length =
        kHeadBytes + (static_cast<std::size_t>(bytes_[at + 1] & 0x0f) << 8 | bytes_[at + 2]);
    return bytes_.size() < at + length ? 0 : length;
}

std::size_t SectionCollector::whole_bytes() const {
    std::size_t at = taken_;
    while (const std::size_t length = section_at(at)) at += length;
    return at;
}

bool SectionCollector::has_begun() const {
    const std::size_t at = whole_bytes();
    return at < bytes_.size() && bytes_[at] != kStuffing;
}

std::optional<std::span<const std::uint8_t>> SectionCollector::next_whole() {
    const std::size_t length = section_at(taken_);
    if (length == 0) return std::nullopt;
    return std::span<const std::uint8_t>(bytes_).subspan(std::exchange(taken_, taken_ + length), length);
}

std::optional<std::span<const std::uint8_t>> SectionCollector::next() {
    while (const auto section = next_whole())
        if (section->size() >= kLeastSectionBytes && crc32_mpeg(*section) == 0) return section;
    return std::nullopt;
}

}  // namespace tidemill::io
