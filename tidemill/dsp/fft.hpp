#pragma once

#include <span>

#include "tidemill/dsp/iq.hpp"

namespace tidemill::dsp {

/// Discrete Fourier transform in place, of a power of two samples: X[k] = sum of x[n] exp(-2 pi j k n / N).
/// Plain and slow: for searches, not for streams. Throws DspError for other lengths.
void fft(std::span<Iq> x);

/// The inverse but for the factor: x[n] = sum of X[k] exp(+2 pi j k n / N).
void inverse_fft(std::span<Iq> x);

}  // namespace tidemill::dsp
