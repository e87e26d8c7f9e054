#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "tidemill/dvbs2/standard/pl_header.hpp"

namespace tidemill::dvbs2 {

/// A header found without knowing anything about phase, frequency, PLS code or spectral inversion.
struct HeaderHit {
    int code = 0;
    float quality = 0;    // as in HeaderMatch
    float frequency = 0;  // cycles per symbol, of the symbols after undoing the inversion
    bool inverted = false;
};

/// Tests whether a header starts at symbols[0], for frequencies within 0.12 cycles per symbol.
HeaderHit examine_header(std::span<const Iq, kHeaderSymbols> symbols);

/// Finds places where a header may start, by correlating products of neighbouring symbols, which no
/// frequency offset disturbs; about one place of pure noise in 300 is reported too.
class HeaderSearch {
  public:
    /// Appends the offsets of likely headers in `symbols` to `places`, in order, and returns how many
    /// offsets were tried: those from which a whole header is there.
    std::size_t scan(std::span<const Iq> symbols, std::vector<std::size_t>& places);

  private:
    std::vector<float> re_, im_, metric_;
};

}  // namespace tidemill::dvbs2
