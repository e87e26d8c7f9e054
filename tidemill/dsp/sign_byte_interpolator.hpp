#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "tidemill/dsp/aligned_vector.hpp"
#include "tidemill/dsp/iq.hpp"
#include "tidemill/dsp/sample_format.hpp"
#include "tidemill/dsp/sign_interpolator.hpp"

namespace tidemill::dsp {

/// A SignInterpolator whose outputs are bytes, as quantize() makes them of its samples: they are added up in
/// 16 bits with what is behind the point, so that an output may differ from the exact one by hundredths of a
/// step more than rounding does.
class SignByteInterpolator {
  public:
    /// `taps` as a SignInterpolator's, the samples' parts +`magnitude` or -`magnitude`; `format` is ci8 or
    /// cu8, `gain` what samples are multiplied by.
    SignByteInterpolator(std::span<const float> taps, float magnitude, float gain, SampleFormat format);

    /// Makes the bytes of two outputs for each sample behind the history, the taps of a phase less one.
    /// Returns for how many samples: whole groups of sixteen up to the first ones of another magnitude; a few
    /// are always left at the end, and all where outputs may lie so far beyond full scale that 16 bits do not
    /// hold them. Adds to `limited` how many outputs were beyond full scale.
    std::size_t process(std::span<const Iq> x, std::span<std::byte> out, std::uint64_t& limited) const;

    /// From sums to bytes.
    struct Rounding {
        int fraction_bits = 0;
        std::int16_t half = 0;  // added before these bits are dropped
        std::int16_t most = 0;  // full scale
        std::int16_t flip = 0;  // bits of both bytes of a sample
    };

  private:
    std::size_t taps_;  // of a phase
    float magnitude_;
    Rounding rounding_;
    AlignedVector<std::int16_t> rows_;  // as a SignInterpolator's; none where 16 bits are too few
};

}  // namespace tidemill::dsp
