#pragma once

#include <complex>
#include <cstddef>
#include <utility>

#include "tidemill/dsp/byte_samples.hpp"
#include "tidemill/dsp/complex_product.hpp"
#include "tidemill/dsp/iq.hpp"
#include "tidemill/dsp/rotator.hpp"

namespace tidemill::dsp::internal {

inline Iq number(Iq x) {
    return x;
}
inline Iq number(Ci8 x) {
    return {static_cast<float>(x.re), static_cast<float>(x.im)};
}

/// Recurrences in single precision lose about one rounding per step, so an oscillator that is one is set anew
/// from this one in double precision every so many samples.
class OscillatorAnchors {
  public:
    static constexpr std::size_t kSamples = 512;

    explicit OscillatorAnchors(const Oscillator& o)
        : unit_{0.0, o.frequency, 1.0}, anchor_(o.at(0)), hop_(turn_by(kSamples)) {}

    std::complex<double> turn_by(std::size_t samples) const { return unit_.at(static_cast<double>(samples)); }

    /// The oscillator's value at its first sample, then so many samples further each time.
    std::complex<double> next() { return std::exchange(anchor_, product(anchor_, hop_)); }

  private:
    Oscillator unit_;
    std::complex<double> anchor_, hop_;
};

/// Sample n of a stream, turned: for those few at the end of which no vector is full.
template <class Sample>
Iq rotated(Sample x, const Oscillator& oscillator, std::size_t n) {
    return Iq(std::complex<double>(number(x)) * oscillator.at(static_cast<double>(n)));
}

}  // namespace tidemill::dsp::internal
