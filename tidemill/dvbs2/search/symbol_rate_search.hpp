#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "tidemill/dsp/iq.hpp"

namespace tidemill::dvbs2 {

/// Samples that a search should have; with fewer it sees less, beyond these it looks no further.
inline constexpr std::size_t kSymbolRateSearchSamples = 1 << 20;

/// Rates at which the power of a signal pulses, in symbols per sample from 1/16 to `highest`, the clearest
/// first; at most `most`. A linear modulation with a roll-off gives one such line, at its symbol rate; noise
/// and chance give none, or some that lead nowhere: the caller must try them. Empty for fewer than 4096
/// samples.
std::vector<double> likely_symbol_rates(std::span<const dsp::Iq> samples, std::size_t most,
                                        double highest = 0.5);

/// A rate at which power pulses.
struct PulsingRate {
    double per_sample = 0;  ///< symbols per sample
    double clearness = 0;   ///< its power over what is usual beside it; of chance alone some 14
};

/// The clearest of the rates within `tolerance` times `near`, in symbols per sample: quicker where about the
/// rate is known. `near` lies from 0.35 to 0.45, the tolerance is 0.06 at most.
std::optional<PulsingRate> symbol_rate_near(std::span<const dsp::Iq> samples, double near, double tolerance);

}  // namespace tidemill::dvbs2
