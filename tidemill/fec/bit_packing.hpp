#pragma once

#include <cstdint>
#include <span>

// Packed bits throughout this room: the first bit on the air is the most significant bit of the first byte.

namespace tidemill::fec {

/// Packs one bit per byte (0 or 1) into bytes, first bit most significant; bits.size() == 8 * packed.size().
void pack_bits(std::span<const std::uint8_t> bits, std::span<std::uint8_t> packed);

/// Unpacks bytes into one bit per byte (0 or 1), most significant bit first; bits.size() == 8 *
/// packed.size().
void unpack_bits(std::span<const std::uint8_t> packed, std::span<std::uint8_t> bits);

}  // namespace tidemill::fec
