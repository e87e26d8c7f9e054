#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tidemill/io/transport/ts_packet.hpp"

/// Service description tables: for tests.
namespace tidemill::io::internal {

inline void append_crc32(std::vector<std::uint8_t>& section) {
    std::uint32_t crc = 0xffffffff;
    for (const std::uint8_t byte : section) {
        crc ^= static_cast<std::uint32_t>(byte) << 24;
        for (int bit = 0; bit < 8; ++bit) crc = crc << 1 ^ (crc >> 31 ? 0x04c11db7U : 0U);
    }
    for (int shift = 24; shift >= 0; shift -= 8) section.push_back(static_cast<std::uint8_t>(crc >> shift));
}

/// Packets that carry one table of these services (EN 300 468, 5.2.3).
inline std::vector<std::uint8_t> made_services(const std::map<int, std::string>& names) {
    std::vector<std::uint8_t> section{0x42, 0, 0, 0, 1, 0xc1, 0, 0, 0, 1, 0xff};
    for (const auto& [number, name] : names) {
        const std::size_t descriptor = name.size() + 5;
        for (const std::size_t byte :
             {static_cast<std::size_t>(number >> 8), static_cast<std::size_t>(number & 255),
              std::size_t{0xfc}, 0x80 | descriptor >> 8, descriptor & 255, std::size_t{0x48}, descriptor - 2,
              std::size_t{1}, std::size_t{0}, name.size()})
            section.push_back(static_cast<std::uint8_t>(byte));
        section.insert(section.end(), name.begin(), name.end());
    }
    const std::size_t length = section.size() - 3 + 4;
    section[1] = static_cast<std::uint8_t>(0xf0 | length >> 8);
    section[2] = static_cast<std::uint8_t>(length);
    append_crc32(section);
    section.insert(section.begin(), 0);  // the pointer
    std::vector<std::uint8_t> packets;
    for (std::size_t at = 0, count = 0; at < section.size(); at += 184, ++count) {
        std::vector<std::uint8_t> packet(kTsPacketBytes, 0xff);
        packet[0] = kTsSyncByte;
        packet[1] = at == 0 ? 0x40 : 0;
        packet[2] = 0x11;
        packet[3] = static_cast<std::uint8_t>(0x10 | (count & 15));
        std::copy_n(section.begin() + static_cast<std::ptrdiff_t>(at),
                    std::min<std::size_t>(184, section.size() - at), packet.begin() + 4);
        packets.insert(packets.end(), packet.begin(), packet.end());
    }
    return packets;
}

}  // namespace tidemill::io::internal
