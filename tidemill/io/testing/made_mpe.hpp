#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "tidemill/io/transport/crc32.hpp"
#include "tidemill/io/transport/ts_packet.hpp"

namespace tidemill::io::internal {

/// A section of multiprotocol encapsulation for tests (EN 301 192, 7.1), part `part` of `last_part`.
inline std::vector<std::uint8_t> made_section(std::span<const std::uint8_t> datagram, std::uint8_t part = 0,
                                              std::uint8_t last_part = 0, std::uint8_t flags = 0xc1) {
    const std::size_t length = 9 + datagram.size() + 4;
    const std::array<std::uint8_t, 12> head{0x3e,
                                            static_cast<std::uint8_t>(0xb0 | length >> 8),
                                            static_cast<std::uint8_t>(length),
                                            6,
                                            5,
                                            flags,
                                            part,
                                            last_part,
                                            4,
                                            3,
                                            2,
                                            1};
    std::vector<std::uint8_t> section(head.size() + datagram.size());
    std::ranges::copy(datagram, std::ranges::copy(head, section.begin()).out);
    const std::uint32_t crc = crc32_mpeg(section);
    for (int shift = 24; shift >= 0; shift -= 8) section.push_back(static_cast<std::uint8_t>(crc >> shift));
    return section;
}

/// Packets of a PID that carry sections one behind the other, counted from `count` on.
inline std::vector<std::uint8_t> made_packets(const std::vector<std::vector<std::uint8_t>>& sections,
                                              std::uint16_t pid, int count = 0) {
    std::vector<std::uint8_t> bytes;
    std::vector<std::size_t> starts;
    for (const auto& section : sections) {
        starts.push_back(bytes.size());
        bytes.insert(bytes.end(), section.begin(), section.end());
    }
    std::vector<std::uint8_t> packets;
    for (std::size_t at = 0; at < bytes.size(); ++count) {
        const auto start = std::ranges::lower_bound(starts, at);
        // With a pointer there is room for one byte less.
        const bool has_start = start != starts.end() && *start < at + 183;
        const std::size_t room = has_start ? 183 : 184;
        const std::size_t taken =
            std::min(has_start ? room : std::min(room, (start == starts.end() ? bytes.size() : *start) - at),
                     bytes.size() - at);
        std::vector<std::uint8_t> packet{
            kTsSyncByte, static_cast<std::uint8_t>((has_start ? 0x40 : 0) | pid >> 8),
            static_cast<std::uint8_t>(pid), static_cast<std::uint8_t>(0x10 | (count & 15))};
        if (has_start) packet.push_back(static_cast<std::uint8_t>(*start - at));
        // A section that would start in the byte for which there is no room waits behind an adaptation field.
        if (!has_start && taken < room && at + taken < bytes.size()) {
            packet[3] |= 0x20;
            packet.push_back(static_cast<std::uint8_t>(room - taken - 1));
            if (room - taken > 1) packet.resize(4 + room - taken, 0);
        }
        packet.insert(packet.end(), bytes.begin() + static_cast<std::ptrdiff_t>(at),
                      bytes.begin() + static_cast<std::ptrdiff_t>(at + taken));
        packet.resize(kTsPacketBytes, 0xff);
        packets.insert(packets.end(), packet.begin(), packet.end());
        at += taken;
    }
    return packets;
}

}  // namespace tidemill::io::internal
