#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tidemill/dsp/iq.hpp"

namespace tidemill::dvbs2 {

/// Coded bits to scrambled QPSK symbols (EN 302 307-1, 5.4.1 and 5.5.4), a byte to four symbols: a bit says
/// whether a part is negative, so that to turn a symbol by a quarter is to exchange its bits and to flip one.
class QpskMapper {
  public:
    static constexpr std::size_t kSymbols = 4;  // of a byte

    /// By how many quarters each data symbol of a frame is turned; a multiple of four of them.
    explicit QpskMapper(std::span<const std::uint8_t> turns);

    /// These bytes, of which so many were before them in the frame, to their symbols.
    void map(std::span<const std::uint8_t> bytes, std::size_t before, std::span<dsp::Iq> symbols) const;

  private:
    struct Turn {
        std::uint8_t exchanged;  // the second bit of each symbol of which both are
        std::uint8_t flipped;    // then
    };

    std::vector<Turn> turns_;                            // of each byte
    std::vector<std::array<dsp::Iq, kSymbols>> points_;  // by byte
};

}  // namespace tidemill::dvbs2
