#pragma once

#include <span>

#include "tidemill/dsp/iq.hpp"
#include "tidemill/dvbs2/standard/modcod.hpp"

namespace tidemill::dvbs2 {

/// The points of a MODCOD with mean energy 1, by label: the first transmitted bit is the most significant.
std::span<const dsp::Iq> constellation_of(const Modcod& modcod);

}  // namespace tidemill::dvbs2
