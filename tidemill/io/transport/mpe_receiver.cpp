#include "tidemill/io/transport/mpe_receiver.hpp"

#include <algorithm>
#include <array>

#include "tidemill/io/transport/crc32.hpp"
#include "tidemill/io/transport/ip_packet.hpp"

namespace tidemill::io {
namespace {

constexpr std::uint8_t kDatagramSection = 0x3e;  // EN 301 192, table 3
constexpr std::size_t kSectionHeaderBytes = 12, kSectionCrcBytes = 4;
constexpr std::size_t kMostPacketBytes = 65535;
constexpr std::uint16_t kPidOfNothing = 0x1fff;

}  // namespace

void MpeReceiver::push(std::span<const std::uint8_t> packets) {
    for (; packets.size() >= kTsPacketBytes; packets = packets.subspan(kTsPacketBytes))
        take(packets.first(kTsPacketBytes));
}

// A PID is followed from the first section of the right kind on.
MpeReceiver::Pid* MpeReceiver::followed(std::span<const std::uint8_t> packet,
                                        std::span<const std::uint8_t> payload) {
    const std::uint16_t pid = pid_of(packet);
    if (pid == kPidOfNothing || pid != pid_.value_or(pid)) return nullptr;
    const auto found = pids_.find(pid);
    if (found != pids_.end()) return &found->second;
    if (!starts_section(packet) || payload.empty()) return nullptr;
    const std::size_t begin = 1 + std::size_t{payload[0]};
    if (begin >= payload.size() || payload[begin] != kDatagramSection) return nullptr;
    if (pids_.size() < kMostPids) return &pids_[pid];
    ++counts_.pids_beyond;
    return nullptr;
}

void MpeReceiver::take(std::span<const std::uint8_t> packet) {
    Pid* const state = followed(packet, payload_of(packet));
    if (!state) return;
    const bool is_scrambled = !is_damaged(packet) && (packet[3] & 0xc0) != 0;
    counts_.scrambled += is_scrambled ? 1U : 0U;
    if (is_damaged(packet) || is_scrambled) {
        counts_.sections_cut_off += state->sections.cut_off();
        return;
    }
    counts_.sections_cut_off += state->sections.add(packet);
    while (const auto section = state->sections.next_whole())
        if ((*section)[0] == kDatagramSection) read(*state, *section);
}

void MpeReceiver::read(Pid& state, std::span<const std::uint8_t> section) {
    const bool has_crc = section.size() > 1 && (section[1] & 0x80) != 0;
    if (section.size() < kSectionHeaderBytes + kSectionCrcBytes || !has_crc || crc32_mpeg(section) != 0) {
        ++counts_.sections_bad_crc;
        return;
    }
    if ((section[5] & 0x3c) != 0) {  // payload or address
        ++counts_.scrambled;
        return;
    }
    auto payload =
        section.subspan(kSectionHeaderBytes, section.size() - kSectionHeaderBytes - kSectionCrcBytes);
    if ((section[5] & 0x02) != 0) {
        constexpr std::array<std::uint8_t, 6> kSnap = {0xaa, 0xaa, 3, 0, 0, 0};
        constexpr std::size_t kLlcBytes = 8;
        const bool is_snap = payload.size() >= kLlcBytes && std::ranges::equal(payload.first(6), kSnap);
        const int type = is_snap ? payload[6] << 8 | payload[7] : 0;
        if (type != 0x0800 && type != 0x86dd) {
            ++counts_.other_protocols;
            return;
        }
        payload = payload.subspan(kLlcBytes);
    }
    join(state, section, payload);
}

// A packet may be in several sections, which then follow one another.
void MpeReceiver::join(Pid& state, std::span<const std::uint8_t> section,
                       std::span<const std::uint8_t> payload) {
    const std::uint8_t part = section[6], last_part = section[7];
    if (part == 0 && last_part == 0) return give_out(payload);
    if (part == 0) {
        counts_.parts_without_start += state.next_part > 0 ? 1U : 0U;
        state.datagram.clear();
        state.next_part = 0;
    }
    const bool fits = state.datagram.size() + payload.size() <= kMostPacketBytes;
    if (part != state.next_part || part > last_part || !fits) {
        ++counts_.parts_without_start;
        state.datagram.clear();
        state.next_part = 0;
        return;
    }
    state.datagram.insert(state.datagram.end(), payload.begin(), payload.end());
    ++state.next_part;
    if (part != last_part) return;
    give_out(state.datagram);
    state.datagram.clear();
    state.next_part = 0;
}

void MpeReceiver::give_out(std::span<const std::uint8_t> datagram) {
    const auto header = parse_ip(datagram);
    if (!header) {
        ++counts_.not_ip;
        return;
    }
    ++counts_.packets;
    give_(datagram.first(header->bytes));
}

}  // namespace tidemill::io
