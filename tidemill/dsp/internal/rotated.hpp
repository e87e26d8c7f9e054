#pragma once

#include <complex>
#include <cstddef>

#include "tidemill/dsp/byte_samples.hpp"
#include "tidemill/dsp/iq.hpp"
#include "tidemill/dsp/rotator.hpp"

namespace tidemill::dsp::internal {

inline Iq number(Iq x) {
    return x;
}
inline Iq number(Ci8 x) {
    return {static_cast<float>(x.re), static_cast<float>(x.im)};
}

/// Sample n of a stream, turned: for those few at the end of which no vector is full.
template <class Sample>
Iq rotated(Sample x, const Oscillator& oscillator, std::size_t n) {
    return Iq(std::complex<double>(number(x)) * oscillator.at(static_cast<double>(n)));
}

}  // namespace tidemill::dsp::internal
