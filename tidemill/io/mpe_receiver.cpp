#include "tidemill/io/mpe_receiver.hpp"

#include <algorithm>
#include <array>

#include "tidemill/io/crc32.hpp"
#include "tidemill/io/ip_packet.hpp"
#include "tidemill/io/ts_section.hpp"

namespace tidemill::io {
namespace {

constexpr std::uint8_t kDatagramSection = 0x3e;  // EN 301 192, table 3
constexpr std::uint8_t kNoSection = 0xff;        // stuffing up to the packet's end
constexpr std::size_t kSectionHeaderBytes = 12, kSectionCrcBytes = 4;
constexpr std::size_t kMostPacketBytes = 65535;
constexpr std::uint16_t kPidOfNothing = 0x1fff;

std::size_t section_bytes(std::span<const std::uint8_t> section) {
    return 3 + (static_cast<std::size_t>(section[1] & 0x0f) << 8 | section[2]);
}

// What stands behind the adaptation field.
std::span<const std::uint8_t> payload_of(std::span<const std::uint8_t> packet) {
    const bool adapted = (packet[3] & 0x20) != 0;
    const std::size_t begin = 4 + (adapted ? 1 + std::size_t{packet[4]} : 0);
    if (!has_payload(packet) || begin >= packet.size()) return {};
    return packet.subspan(begin);
}

bool starts_section(std::span<const std::uint8_t> packet) {
    return (packet[1] & 0x40) != 0;
}

// A packet may be sent twice; then its count is the same.
int count_of(std::span<const std::uint8_t> packet) {
    return packet[3] & 0x0f;
}

bool is_damaged(std::span<const std::uint8_t> packet) {
    return packet[0] != kTsSyncByte || (packet[1] & 0x80) != 0;
}

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
    auto payload = payload_of(packet);
    Pid* const state = followed(packet, payload);
    if (!state) return;
    if (is_damaged(packet)) return cut_off(*state);
    if ((packet[3] & 0xc0) != 0) {
        ++counts_.scrambled;
        return cut_off(*state);
    }
    if (payload.empty() || !goes_on(*state, packet)) return;
    if (!starts_section(packet)) {
        if (!state->section.empty()) collect(*state, payload);
        return;
    }
    const std::size_t before = std::min(std::size_t{payload[0]}, payload.size() - 1);
    if (!state->section.empty()) collect(*state, payload.subspan(1, before));
    cut_off(*state);  // what is not whole now never will be
    collect(*state, payload.subspan(1 + before));
}

// False for a packet that was there before.
bool MpeReceiver::goes_on(Pid& state, std::span<const std::uint8_t> packet) {
    const int count = count_of(packet);
    if (count == state.last_count) return false;
    if (state.last_count >= 0 && count != (state.last_count + 1) % 16) cut_off(state);
    state.last_count = count;
    return true;
}

void MpeReceiver::cut_off(Pid& state) {
    counts_.sections_cut_off += state.section.empty() ? 0U : 1U;
    state.section.clear();
}

// One section behind the other, until stuffing; the last may go on in the next packet.
void MpeReceiver::collect(Pid& state, std::span<const std::uint8_t> bytes) {
    while (!bytes.empty()) {
        if (state.section.empty() && bytes[0] == kNoSection) return;
        std::size_t wanted = 3;
        if (state.section.size() >= wanted) wanted = section_bytes(state.section);
        const std::size_t taken = std::min(bytes.size(), wanted - state.section.size());
        state.section.insert(state.section.end(), bytes.begin(),
                             bytes.begin() + static_cast<std::ptrdiff_t>(taken));
        bytes = bytes.subspan(taken);
        finish_section(state);
    }
}

void MpeReceiver::finish_section(Pid& state) {
    if (state.section.size() < 3 || state.section.size() < section_bytes(state.section)) return;
    const std::vector<std::uint8_t> section = std::move(state.section);
    state.section.clear();
    if (section[0] == kDatagramSection) read(state, section);
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
