#pragma once

#include <complex>
#include <span>

#include "tidemill/dsp/byte_samples.hpp"
#include "tidemill/dsp/iq.hpp"

namespace tidemill::dsp {

/// Sums over a stretch of samples, from which the offset and the imbalance of its I and Q follow.
struct IqMoments {
    double count = 0;
    double power = 0;               // sum of |x[n]|^2
    std::complex<double> sum{};     // of x[n]
    std::complex<double> square{};  // of x[n]^2
};

IqMoments iq_moments(std::span<const Iq> x);
/// The same of at most 32768 samples, whose full scale is 1.
IqMoments iq_moments(std::span<const Ci8> x);

/// Correction of received samples x to (x - offset) - image * conj(x - offset).
struct IqCorrection {
    Iq offset{};  // what is added to each sample (DC)
    Iq image{};   // of the mirrored spectrum over that of the signal

    bool changes_anything() const { return offset != Iq{} || image != Iq{}; }
};

/// The correction after which samples of these moments would have mean 0 and a square of mean 0, as any
/// modulation in I and Q alike has; {} for silence.
IqCorrection iq_correction(const IqMoments& moments);

/// Corrects samples; `corrected` is as long as `x` and may be `x`.
void correct_iq(std::span<const Iq> x, const IqCorrection& correction, std::span<Iq> corrected);

}  // namespace tidemill::dsp
