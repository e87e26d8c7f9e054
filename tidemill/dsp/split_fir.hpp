#pragma once

#include <cstddef>
#include <span>

#include "tidemill/dsp/iq.hpp"

namespace tidemill::dsp {

/// A stream at two samples per symbol, kept as its even- and odd-numbered samples.
struct SplitView {
    std::span<const Iq> even;
    std::span<const Iq> odd;
};

/// y[n] = sum over k of taps[k] * x[n + k], where x and y are streams split into even and odd samples.
/// An even number of taps, at most 128; x holds at least `even_out.size() + taps.size() / 2` samples in each
/// half.
void split_fir(SplitView x, std::span<const float> taps, std::span<Iq> even_out, std::span<Iq> odd_out);

}  // namespace tidemill::dsp
