#pragma once

#include <cstdint>
#include <span>

namespace tidemill::io {

/// The CRC of sections (ISO/IEC 13818-1, annex A) and of GSE (TS 102 606-1, 4.2): 0 over bytes with their CRC
/// behind them.
std::uint32_t crc32_mpeg(std::span<const std::uint8_t> bytes, std::uint32_t begin = 0xffffffff);

}  // namespace tidemill::io
