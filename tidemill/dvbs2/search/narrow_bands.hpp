#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "tidemill/dsp/iq.hpp"
#include "tidemill/dvbs2/search/band_carriers.hpp"
#include "tidemill/io/live/sample_source.hpp"

namespace tidemill::dvbs2 {

/// The surroundings of a carrier, eight of its symbol rates wide or more.
struct NarrowBand {
    double sample_rate_hz = 0;
    double offset_hz = 0;  ///< of the carrier from their middle
    std::vector<dsp::Iq> samples{};
};

/// Whether a carrier is so narrow in its band that it pays to take its surroundings out before anything else.
bool is_narrow(double sample_rate_hz, const FoundCarrier& carrier);

/// Takes the surroundings of narrow carriers out of their band, all in one pass: as many seconds of each as
/// `seconds` says of it. The source must know its rate.
std::vector<NarrowBand> narrow_bands(io::SampleSource& source, std::span<const FoundCarrier> carriers,
                                     std::span<const double> seconds);

}  // namespace tidemill::dvbs2
