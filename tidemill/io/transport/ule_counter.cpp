#include "tidemill/io/transport/ule_counter.hpp"

#include "tidemill/io/transport/crc32.hpp"
#include "tidemill/io/transport/ts_section.hpp"

namespace tidemill::io {
namespace {

// RFC 4326, 4: length and type; the length counts what is behind both, its CRC included.
constexpr std::size_t kUleHeaderBytes = 4, kUleCrcBytes = 4;
constexpr std::uint16_t kBridged = 0x0001;  // 5.2: a frame of Ethernet
constexpr std::uint16_t kPidOfNulls = 0x1fff;

std::uint16_t number16(std::span<const std::uint8_t> bytes) {
    return static_cast<std::uint16_t>(bytes[0] << 8 | bytes[1]);
}

}  // namespace

void UleCounter::push(Bytes packets) {
    for (; packets.size() >= kTsPacketBytes; packets = packets.subspan(kTsPacketBytes))
        take(packets.first(kTsPacketBytes));
}

void UleCounter::take(Bytes packet) {
    const std::uint16_t pid = pid_of(packet);
    const Bytes payload = payload_of(packet);
    if (pid == kPidOfNulls) return;
    if (is_damaged(packet) || (packet[3] & 0xc0) != 0) {
        waiting_.erase(pid);
        return;
    }
    const auto found = waiting_.find(pid);
    if (starts_section(packet)) return begin(pid, payload);
    if (found == waiting_.end()) return;
    found->second.insert(found->second.end(), payload.begin(), payload.end());
    if (!read(found->second)) waiting_.erase(found);
}

// The first byte gives how much of the packet before is left.
void UleCounter::begin(std::uint16_t pid, Bytes payload) {
    const std::size_t pointer = payload.empty() ? 0 : payload[0];
    if (payload.size() <= 1 + pointer) {
        waiting_.erase(pid);
        return;
    }
    if (const auto found = waiting_.find(pid); found != waiting_.end()) {
        const Bytes rest = payload.subspan(1, pointer);
        found->second.insert(found->second.end(), rest.begin(), rest.end());
        read(found->second);
    }
    if (!waiting_.contains(pid) && waiting_.size() >= kMostPids) return;
    auto& waiting = waiting_[pid];
    waiting.assign(payload.begin() + static_cast<std::ptrdiff_t>(1 + pointer), payload.end());
    if (!read(waiting)) waiting_.erase(pid);
}

// Takes whole packets away; false where what comes is none.
bool UleCounter::read(std::vector<std::uint8_t>& waiting) {
    std::size_t at = 0;
    while (waiting.size() - at >= kUleHeaderBytes) {
        const Bytes rest = Bytes(waiting).subspan(at);
        const std::size_t length = number16(rest) & 0x7fffU, bytes = kUleHeaderBytes + length;
        if (length < kUleCrcBytes || length == 0x7fff) return false;  // the end, and padding
        if (rest.size() < bytes) break;
        if (crc32_mpeg(rest.first(bytes)) != 0) return false;
        ++counts_.packets;
        counts_.ethernet += number16(rest.subspan(2)) == kBridged ? 1U : 0U;
        at += bytes;
    }
    waiting.erase(waiting.begin(), waiting.begin() + static_cast<std::ptrdiff_t>(at));
    return true;
}

}  // namespace tidemill::io
