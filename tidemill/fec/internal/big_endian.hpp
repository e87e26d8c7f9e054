#pragma once

#include <cstdint>

namespace tidemill::fec {

/// Eight bytes as one number, the first one highest. Written out, compilers make one load of it.
inline std::uint64_t big_endian(const std::uint8_t* bytes) {
    const auto at = [bytes](int i) { return static_cast<std::uint64_t>(bytes[i]) << (56 - 8 * i); };
    return at(0) | at(1) | at(2) | at(3) | at(4) | at(5) | at(6) | at(7);
}

}  // namespace tidemill::fec
