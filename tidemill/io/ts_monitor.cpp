#include "tidemill/io/ts_monitor.hpp"

#include <algorithm>

namespace tidemill::io {
namespace {

// ISO/IEC 13818-1: 2.4.3.3 for packets, 2.4.4.3 for the programme association table, annex A for its CRC.
constexpr std::uint16_t kNullPid = 0x1fff;
constexpr std::size_t kMostSectionBytes = 1024;

void count(std::atomic<std::uint64_t>& counter) {
    counter.store(counter.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);  // one writer
}

bool has_adaptation(std::span<const std::uint8_t> packet) {
    return (packet[3] & 0x20) != 0;
}

bool has_payload(std::span<const std::uint8_t> packet) {
    return (packet[3] & 0x10) != 0;
}

bool is_discontinuous(std::span<const std::uint8_t> packet) {
    return has_adaptation(packet) && packet[4] > 0 && (packet[5] & 0x80) != 0;
}

std::uint32_t crc32(std::span<const std::uint8_t> bytes) {
    std::uint32_t crc = 0xffffffff;
    for (const std::uint8_t byte : bytes) {
        crc ^= static_cast<std::uint32_t>(byte) << 24;
        for (int bit = 0; bit < 8; ++bit) crc = crc << 1 ^ (crc >> 31 ? 0x04c11db7U : 0U);
    }
    return crc;
}

}  // namespace

std::optional<std::uint64_t> pcr_of(std::span<const std::uint8_t> packet) {
    if (!has_adaptation(packet) || packet[4] < 7 || (packet[5] & 0x10) == 0) return std::nullopt;
    std::uint64_t field = 0;
    for (std::size_t i = 6; i < 12; ++i) field = field << 8 | packet[i];
    return (field >> 15) * 300 + (field & 0x1ff);
}

void TsMonitor::look(std::span<const std::uint8_t> packets) {
    for (; packets.size() >= kTsPacketBytes; packets = packets.subspan(kTsPacketBytes)) {
        look_at(packets.first(kTsPacketBytes));
    }
}

void TsMonitor::look_at(std::span<const std::uint8_t> packet) {
    count(packets_);
    if ((packet[1] & 0x80) != 0) return count(marked_packets_);  // nothing in it can be trusted
    const std::uint16_t pid = pid_of(packet);
    if (pid == kNullPid) return count(null_packets_);
    check_continuity(packet, pid);
    if (pid == 0 && has_payload(packet)) collect_section(packet);
}

// The count goes up with each payload; a packet may be sent twice, and a break may be announced.
void TsMonitor::check_continuity(std::span<const std::uint8_t> packet, std::uint16_t pid) {
    PidState& state = pids_[pid];
    const auto now = static_cast<std::int8_t>(packet[3] & 0x0f);
    const bool first = state.last_count < 0 || is_discontinuous(packet);
    const bool same = now == state.last_count;
    const bool next = now == ((state.last_count + 1) & 0x0f);
    const bool fine = !has_payload(packet) ? same : next || (same && !state.repeated);
    if (!first && !fine) count(continuity_errors_);
    state.repeated = !first && same && has_payload(packet);
    state.last_count = now;
}

void TsMonitor::collect_section(std::span<const std::uint8_t> packet) {
    const std::size_t skipped = has_adaptation(packet) ? 1 + std::size_t{packet[4]} : 0;
    if (4 + skipped >= packet.size()) return;
    auto payload = packet.subspan(4 + skipped);
    if ((packet[1] & 0x40) != 0) {  // a section starts behind the pointer
        const std::size_t start = 1 + std::size_t{payload[0]};
        if (start >= payload.size()) return section_.clear();
        payload = payload.subspan(start);
        section_.clear();
    } else if (section_.empty()) {
        return;
    }
    section_.insert(section_.end(), payload.begin(), payload.end());
    read_table();
    if (section_.size() > kMostSectionBytes) section_.clear();
}

void TsMonitor::read_table() {
    if (section_.size() < 3) return;
    const std::size_t length = 3 + (static_cast<std::size_t>(section_[1] & 0x0f) << 8 | section_[2]);
    if (section_.size() < length) return;
    const auto table = std::span(section_).first(length);
    if (length >= 12 && table[0] == 0 && crc32(table) == 0) {
        std::size_t found = 0;
        for (std::size_t at = 8; at + 8 <= length && found < kMostProgrammes; at += 4) {
            const int number = table[at] << 8 | table[at + 1];
            if (number != 0) programmes_[found++].store(number, std::memory_order_relaxed);
        }
        programme_count_.store(found, std::memory_order_release);  // pairs with the acquire in programmes()
    }
    section_.clear();
}

std::vector<int> TsMonitor::programmes() const {
    const std::size_t found = programme_count_.load(std::memory_order_acquire);
    std::vector<int> numbers;
    for (std::size_t i = 0; i < found; ++i) numbers.push_back(programmes_[i].load(std::memory_order_relaxed));
    return numbers;
}

}  // namespace tidemill::io
