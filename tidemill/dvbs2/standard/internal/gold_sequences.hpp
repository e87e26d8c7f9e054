#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace tidemill::dvbs2::internal {

/// Period of the scrambling sequences (EN 302 307-1, 5.5.4).
inline constexpr std::size_t kGoldPeriod = (1U << 18U) - 1;

/// The two sequences of which every gold code is made. A value holds the bits that count once and twice:
/// symbol i behind the header is turned by x[(n + i) % period] ^ y[i] quarter turns for gold code n.
struct GoldSequences {
    std::span<const std::uint8_t> x;
    std::span<const std::uint8_t> y;
};
GoldSequences gold_sequences();

}  // namespace tidemill::dvbs2::internal
