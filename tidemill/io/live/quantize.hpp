#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <span>

#include "tidemill/dsp/iq.hpp"
#include "tidemill/dsp/sample_format.hpp"

namespace tidemill::io {

/// Writes gain * samples in a sample format, rounded to nearest; 1.0 becomes the largest value of ci16, ci8
/// and cu8 (32767, 127 and 255). `to` holds bytes_per_sample(format) bytes for each sample. Returns how many
/// samples were beyond full scale or not a number: those are limited, a NaN becomes 0. Floating point is
/// never limited.
std::uint64_t quantize(std::span<const dsp::Iq> samples, float gain, dsp::SampleFormat format,
                       std::span<std::byte> to);

/// Power of the signal over that of the rounding, in dB, for samples of this root mean square, 1 being full
/// scale; infinite for floating point.
double rounding_snr_db(double rms, dsp::SampleFormat format);

}  // namespace tidemill::io
