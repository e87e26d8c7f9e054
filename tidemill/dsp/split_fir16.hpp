#pragma once

#include <cstddef>
#include <span>

#include "tidemill/dsp/iq.hpp"
#include "tidemill/dsp/split_fir.hpp"

namespace tidemill::dsp {

/// Whether split_fir16() is faster than split_fir() here: on x86 a multiplication of 16-bit integers with the
/// sum of two products costs as much as one of floats and does twice as many; on Arm it does not.
#if defined(__x86_64__)
inline constexpr bool kSplitFir16IsFaster = true;
#else
inline constexpr bool kSplitFir16IsFaster = false;
#endif

/// As split_fir(), in 16-bit integers that are scaled by the largest number of each few hundred samples: what
/// is rounded lies 75 dB and more below a signal of which no sample is ten times as large as usual. Of 16
/// outputs of a half and more, every instruction set gives the same bits.
void split_fir16(SplitView x, std::span<const float> taps, std::span<Iq> even_out, std::span<Iq> odd_out);

}  // namespace tidemill::dsp
