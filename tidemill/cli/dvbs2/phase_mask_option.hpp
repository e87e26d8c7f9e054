#pragma once

#include <string>
#include <vector>

#include "tidemill/dvbs2/channel/phase_mask.hpp"

namespace tidemill::cli {

/// Reads "HZ:DBC,HZ:DBC,..." of --phase-mask, dBc/Hz in order of the frequencies, for a symbol rate; throws
/// WrongUsage.
std::vector<dvbs2::PhaseMaskPoint> phase_mask_of(const std::string& text, double symbol_rate_hz);

}  // namespace tidemill::cli
