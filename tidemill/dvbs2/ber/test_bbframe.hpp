#pragma once

#include <cstdint>
#include <span>

namespace tidemill::dvbs2 {

/// Fills a packed BBFRAME for error counting: a header that is true, the frame's number, then random bits
/// that depend on seed and number alone.
void make_test_bbframe(std::uint64_t seed, std::uint64_t number, std::span<std::uint8_t> bbframe);

/// The number in a BBFRAME that make_test_bbframe() filled.
std::uint64_t number_of_test_bbframe(std::span<const std::uint8_t> bbframe);

/// Bits in which two BBFRAMEs of one length differ.
std::uint64_t differing_bits(std::span<const std::uint8_t> a, std::span<const std::uint8_t> b);

}  // namespace tidemill::dvbs2
