#pragma once

#include <optional>
#include <span>
#include <vector>

#include "tidemill/dvbs2/search/band_carriers.hpp"
#include "tidemill/io/live/sample_source.hpp"

namespace tidemill::dvbs2 {

/// The symbol rates of found carriers by the pulsing of their power, to some millionths, in one pass over the
/// band; none of one that does not pulse. `source` begins anew.
std::vector<std::optional<double>> measure_symbol_rates(io::SampleSource& source,
                                                        std::span<const FoundCarrier> carriers);

}  // namespace tidemill::dvbs2
