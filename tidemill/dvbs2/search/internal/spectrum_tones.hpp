#pragma once

#include <vector>

#include "tidemill/dvbs2/search/internal/spectrum_shape.hpp"

namespace tidemill::dvbs2::internal {

/// A line that stands far out of the spectrum around it, narrower than any carrier.
struct SpectrumTone {
    std::ptrdiff_t bin = 0;
    double power = 0;
    double around = 0;  ///< power of a bin there without it
};

/// The tones of a spectrum, the strongest first; of a clean one its quantisation makes weaker ones all over
/// the band, which are left out.
std::vector<SpectrumTone> tones_of(const ObservedSpectrum& spectrum);

/// Gives the bins over which tones are smeared what is around them.
void take_out(const std::vector<SpectrumTone>& tones, ObservedSpectrum& spectrum);

}  // namespace tidemill::dvbs2::internal
