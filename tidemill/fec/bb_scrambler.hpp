#pragma once

#include <cstdint>
#include <span>

namespace tidemill::fec {

/// Scrambles or descrambles a whole packed BBFRAME in place; at most 58192 bits (EN 302 307-1, 5.2.2).
void bb_scramble(std::span<std::uint8_t> bbframe);

}  // namespace tidemill::fec
