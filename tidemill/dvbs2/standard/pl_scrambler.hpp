#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "tidemill/dsp/iq.hpp"

namespace tidemill::dvbs2 {

/// A symbol turned by 0 to 3 quarter turns, to the last bit: only its parts and their signs change places.
dsp::Iq turned(const dsp::Iq& symbol, unsigned quarters);

/// The gold code whose first sequence begins with these 18 bits, the lowest first, as some name it ("root");
/// none where there is no such code (EN 302 307-1, 5.5.4).
std::optional<int> gold_code_of_root(std::uint32_t root);

/// The physical-layer scrambling sequence of one gold code; it starts anew after every PLHEADER.
class PlScrambler {
  public:
    /// Gold code n in [0, 262141]; throws Dvbs2Error outside (EN 302 307-1, 5.5.4).
    explicit PlScrambler(int gold_code);

    /// Symbol i after the header is turned by rotations()[i] quarter turns when sent; 33192 values in 0..3.
    std::span<const std::uint8_t> rotations() const { return rotations_; }

    /// The factors that undo the rotations: 1, -j, -1, j.
    std::span<const dsp::Iq> descrambling() const { return descrambling_; }

    /// The conjugate of what a pilot at each place is when sent.
    std::span<const dsp::Iq> pilot_references() const { return pilot_references_; }

    /// Turns symbols as a transmitter does; the first stands `place` symbols behind the header, the last less
    /// than 33192. `scrambled` has as many, and may be the same ones.
    void scramble(std::span<const dsp::Iq> symbols, std::size_t place, std::span<dsp::Iq> scrambled) const;

    /// The same for all that stands behind a header, in place.
    void scramble(std::span<dsp::Iq> symbols) const { scramble(symbols, 0, symbols); }

  private:
    std::vector<std::uint8_t> rotations_;
    std::vector<dsp::Iq> descrambling_;
    std::vector<dsp::Iq> pilot_references_;
};

}  // namespace tidemill::dvbs2
