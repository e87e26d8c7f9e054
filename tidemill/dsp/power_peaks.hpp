#pragma once

#include <cstddef>
#include <span>

#include "tidemill/dsp/byte_samples.hpp"
#include "tidemill/dsp/iq.hpp"

namespace tidemill::dsp {

/// Samples of a group, and numbers of which each of its partial sums is made.
inline constexpr std::size_t kPeakGroup = 64;
inline constexpr std::size_t kPeakParts = 8;

/// How a stretch's power is spread, read off in one pass; all 0 for less than a group.
struct PowerPeaks {
    float mean = 0.0F;  ///< of |x|^2
    float part = 0.0F;  ///< the largest square of an I or a Q
    float group =
        0.0F;  ///< the largest mean of squares of kPeakParts of them, one sample in eight of a group
};

/// Looks at whole groups; what is left over at the end is looked at with the samples before it, twice.
PowerPeaks power_peaks(std::span<const Iq> x);
PowerPeaks power_peaks(std::span<const Ci8> x);

/// means[g] = mean of |x|^2 over group g of so many samples, a multiple of 8; whole groups.
void mean_powers(std::span<const Iq> x, std::size_t group_samples, std::span<float> means);
/// The same of groups of at most 32768 samples.
void mean_powers(std::span<const Ci8> x, std::size_t group_samples, std::span<float> means);

}  // namespace tidemill::dsp
