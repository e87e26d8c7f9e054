#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tidemill/dsp/iq.hpp"

namespace tidemill::dsp::internal {

// Only the signs of inputs whose parts are all +a or -a need be known. What a group of four of them adds to
// the outputs of a block is a row of a table, one for each pattern of signs; a row is a cache line.
inline constexpr std::size_t kSignGroup = 4;
inline constexpr std::size_t kSignPatterns = 1U << kSignGroup;
inline constexpr std::size_t kSignRowBytes = 64;
inline constexpr std::size_t kSignGroupBytes = kSignPatterns * kSignRowBytes;  // of a group's rows

inline constexpr std::size_t kSignPhases = 2;  // outputs for each input
template <typename Number>
inline constexpr std::size_t kSignRow = kSignRowBytes / sizeof(Number);  // outputs of a block
template <typename Number>
inline constexpr std::size_t kSignBlock = kSignRow<Number> / kSignPhases;  // inputs of a block

inline constexpr std::size_t kSignStep = 2 * kSignGroup;  // inputs whose signs are a byte

/// Inputs besides those of a block that its outputs are made of, in whole steps.
constexpr std::size_t sign_history(std::size_t taps) {
    return (taps - 1 + kSignStep - 1) / kSignStep * kSignStep;
}

/// The rows of all groups of a block of so many inputs and of its history, row behind row: what inputs of
/// magnitude 1 add. `taps` holds those of one phase behind those of the other.
std::vector<double> sign_rows(std::span<const float> taps, std::size_t block);

/// For each group of samples of a piece: which of its parts are negative, as the bytes at which the rows for
/// that stand among the group's. Both are one number, since it is loads that a sum of rows waits for.
struct SignPositions {
    static constexpr std::size_t kPieceSamples = 512;
    static constexpr std::size_t kMostHistory = 64;

    std::array<std::uint32_t, (kPieceSamples + kMostHistory) / kSignGroup> groups;
};

constexpr std::uint32_t sign_place(std::size_t re_byte, std::size_t im_byte) {
    return static_cast<std::uint32_t>(re_byte | im_byte << 16);
}
constexpr std::size_t re_byte(std::uint32_t place) {
    return place & 0xFFFF;
}
constexpr std::size_t im_byte(std::uint32_t place) {
    return place >> 16;
}

/// Finds the signs of samples in whole steps. False when a part has another magnitude.
bool find_sign_places(std::span<const Iq> x, float magnitude, SignPositions& places);

/// Calls make(places, done, blocks) for piece after piece of `x`, until the first that has another magnitude.
/// Returns how many blocks were done.
template <typename Number, class Make>
std::size_t by_sign_pieces(std::span<const Iq> x, std::size_t history, float magnitude, Make make) {
    constexpr std::size_t kBlock = kSignBlock<Number>;
    const std::size_t count = x.size() < history ? 0 : (x.size() - history) / kBlock;
    std::size_t done = 0;
    while (done < count) {
        const std::size_t blocks = std::min(count - done, SignPositions::kPieceSamples / kBlock);
        const auto piece = x.subspan(kBlock * done, kBlock * blocks + history);
        SignPositions places;
        if (!find_sign_places(piece, magnitude, places)) break;
        make(places, done, blocks);
        done += blocks;
    }
    return done;
}

}  // namespace tidemill::dsp::internal
