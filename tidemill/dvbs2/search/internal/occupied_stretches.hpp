#pragma once

#include <vector>

#include "tidemill/dvbs2/search/internal/spectrum_shape.hpp"

namespace tidemill::dvbs2::internal {

/// Part of a spectrum in which there is more than usual, whatever its shape; in bins.
struct OccupiedStretch {
    double middle = 0;
    double width = 0;  ///< the symbol rate that a carrier there would have, within 15 %
    double level = 0;  ///< of its usual power over the floor
    double floor = 0;
};

/// Stretches from 1/170 of a fine spectrum to most of it, the wide ones first, which may hold some of the
/// others.
std::vector<OccupiedStretch> occupied_stretches(const ObservedSpectrum& spectrum);

}  // namespace tidemill::dvbs2::internal
