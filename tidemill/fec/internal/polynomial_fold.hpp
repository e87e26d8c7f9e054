#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace tidemill::fec {

/// A polynomial over GF(2) of degree below 192, its highest power at the top bit of word 0.
using Word192 = std::array<std::uint64_t, 3>;

/// Remainders of x^256 and x^320, divided by a polynomial of degree 192.
struct FoldingPowers {
    Word192 x256, x320;
};

inline constexpr std::size_t kFoldedBytes = 32;

/// Where products of polynomials are one instruction, replaces a message of at least 32 bytes, its highest
/// power first, by one of 32 that leaves the same, divided by that polynomial. Elsewhere returns false.
bool fold(std::span<const std::uint8_t> message, const FoldingPowers& powers,
          std::span<std::uint8_t, kFoldedBytes> folded);

}  // namespace tidemill::fec
