#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "tidemill/io/transport/ip_packet.hpp"

namespace tidemill::io::internal {

/// A packet of UDP's number with so many bytes behind its header, each of this value: for tests.
inline std::vector<std::uint8_t> made_ipv4(const std::string& from, const std::string& to, std::size_t bytes,
                                           std::uint8_t value = 0x55) {
    std::vector<std::uint8_t> packet(20 + bytes, value);
    const auto size = static_cast<std::uint16_t>(packet.size());
    const std::uint8_t header[] = {
        0x45, 0, static_cast<std::uint8_t>(size >> 8), static_cast<std::uint8_t>(size), 0, 0, 0, 0, 64, 17,
        0,    0};
    std::ranges::copy(header, packet.begin());
    std::ranges::copy_n(parse_ip_prefix(from)->address.bytes.begin(), 4, packet.begin() + 12);
    std::ranges::copy_n(parse_ip_prefix(to)->address.bytes.begin(), 4, packet.begin() + 16);
    std::uint32_t sum = 0;
    for (std::size_t at = 0; at < 20; at += 2)
        sum += static_cast<std::uint32_t>(packet[at] << 8 | packet[at + 1]);
    sum = ~((sum & 0xffff) + (sum >> 16));
    packet[10] = static_cast<std::uint8_t>(sum >> 8);
    packet[11] = static_cast<std::uint8_t>(sum);
    return packet;
}

inline std::vector<std::uint8_t> made_ipv6(const std::string& from, const std::string& to, std::size_t bytes,
                                           std::uint8_t value = 0x66) {
    std::vector<std::uint8_t> packet(40 + bytes, value);
    const std::uint8_t header[] = {
        0x60, 0, 0, 0, static_cast<std::uint8_t>(bytes >> 8), static_cast<std::uint8_t>(bytes), 17, 64};
    std::ranges::copy(header, packet.begin());
    std::ranges::copy_n(parse_ip_prefix(from)->address.bytes.begin(), 16, packet.begin() + 8);
    std::ranges::copy_n(parse_ip_prefix(to)->address.bytes.begin(), 16, packet.begin() + 24);
    return packet;
}

}  // namespace tidemill::io::internal
