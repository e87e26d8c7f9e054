#include "tidemill/io/transport/ts_monitor.hpp"

#include <algorithm>

namespace tidemill::io {
namespace {

// ISO/IEC 13818-1: 2.4.3.3 for packets, 2.4.4.3 for the programme association table.
constexpr std::uint16_t kNullPid = 0x1fff;

void count(std::atomic<std::uint64_t>& counter) {
    counter.store(counter.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);  // one writer
}

bool has_adaptation(std::span<const std::uint8_t> packet) {
    return (packet[3] & 0x20) != 0;
}

bool is_discontinuous(std::span<const std::uint8_t> packet) {
    return has_adaptation(packet) && packet[4] > 0 && (packet[5] & 0x80) != 0;
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

void TsMonitor::go_on_behind(std::span<const std::uint8_t> packets) {
    look(packets);
    for (auto* const counter : {&packets_, &null_packets_, &marked_packets_, &continuity_errors_})
        counter->store(0, std::memory_order_relaxed);
}

void TsMonitor::look_at(std::span<const std::uint8_t> packet) {
    count(packets_);
    if ((packet[1] & 0x80) != 0) return count(marked_packets_);  // nothing in it can be trusted
    const std::uint16_t pid = pid_of(packet);
    if (pid == kNullPid) return count(null_packets_);
    check_continuity(packet, pid);
    if (pid != 0) return;
    sections_.add(packet);
    while (const auto table = sections_.next()) read_table(*table);
}

// The count goes up with each payload; a packet may be sent twice, and a break may be announced. Of a packet
// sent twice everything but its clock is the same: another with the same count comes after 15 that are
// missing.
void TsMonitor::check_continuity(std::span<const std::uint8_t> packet, std::uint16_t pid) {
    PidState& state = pids_[pid];
    const auto now = static_cast<std::int8_t>(packet[3] & 0x0f);
    const bool first = state.last_count < 0 || is_discontinuous(packet);
    const bool same = now == state.last_count;
    const bool next = now == ((state.last_count + 1) & 0x0f);
    const auto end = packet.last(state.payload_end.size());
    const bool again = same && !state.repeated && std::ranges::equal(end, state.payload_end);
    const bool fine = has_payload(packet) ? next || again : same;
    if (!first && !fine) count(continuity_errors_);
    state.last_count = now;
    if (!has_payload(packet)) return;
    state.repeated = !first && again;
    std::ranges::copy(end, state.payload_end.begin());
}

void TsMonitor::read_table(std::span<const std::uint8_t> table) {
    if (table[0] != 0) return;
    std::size_t found = 0;
    for (std::size_t at = 8; at + 8 <= table.size() && found < kMostProgrammes; at += 4) {
        const int number = table[at] << 8 | table[at + 1];
        if (number != 0) programmes_[found++].store(number, std::memory_order_relaxed);
    }
    programme_count_.store(found, std::memory_order_release);  // pairs with the acquire in programmes()
}

std::vector<int> TsMonitor::programmes() const {
    const std::size_t found = programme_count_.load(std::memory_order_acquire);
    std::vector<int> numbers;
    for (std::size_t i = 0; i < found; ++i) numbers.push_back(programmes_[i].load(std::memory_order_relaxed));
    return numbers;
}

}  // namespace tidemill::io
