#pragma once

#include <span>

#include "tidemill/dvbs2/channel/multipath.hpp"

namespace tidemill::dvbs2 {

/// Quality that the best linear equaliser of any length leaves of a signal with echoes: its power over that
/// of noise and of other symbols together, as Es/N0 in dB. `esn0_db` is by the direct way.
double linear_equaliser_esn0_db(std::span<const Echo> echoes, double rolloff, double esn0_db);

}  // namespace tidemill::dvbs2
