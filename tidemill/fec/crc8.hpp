#pragma once

#include <cstdint>
#include <span>

namespace tidemill::fec {

/// CRC-8 of the BBHEADER and of user packets: x^8+x^7+x^6+x^4+x^2+1, start 0, not reflected (EN 302
/// 307-1, 5.1.4).
std::uint8_t crc8(std::span<const std::uint8_t> bytes);

}  // namespace tidemill::fec
