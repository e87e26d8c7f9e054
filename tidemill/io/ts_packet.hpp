#pragma once

#include <cstddef>
#include <cstdint>

namespace tidemill::io {

inline constexpr std::size_t kTsPacketBytes = 188;  // ISO/IEC 13818-1, 2.4.3.2
inline constexpr std::uint8_t kTsSyncByte = 0x47;

}  // namespace tidemill::io
