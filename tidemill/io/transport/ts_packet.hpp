#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace tidemill::io {

inline constexpr std::size_t kTsPacketBytes = 188;  // ISO/IEC 13818-1, 2.4.3.2
inline constexpr std::uint8_t kTsSyncByte = 0x47;

/// Whether a transport stream packet is a null packet: PID 0x1fff (ISO/IEC 13818-1, 2.4.3.3).
constexpr bool is_null_packet(std::span<const std::uint8_t> packet) {
    return (packet[1] & 0x1f) == 0x1f && packet[2] == 0xff;
}

/// The null packet that everybody sends: payload only, all ones.
inline constexpr std::array<std::uint8_t, kTsPacketBytes> kNullPacket = [] {
    std::array<std::uint8_t, kTsPacketBytes> packet{};
    packet.fill(0xff);
    packet[0] = kTsSyncByte;
    packet[1] = 0x1f;
    packet[3] = 0x10;
    return packet;
}();

}  // namespace tidemill::io
