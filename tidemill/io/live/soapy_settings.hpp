#pragma once

#include <optional>

#include "tidemill/io/live/rtl_tcp.hpp"
#include "tidemill/io/live/soapy_device.hpp"

namespace tidemill::io {

/// Sets a radio to rate, frequency, gain and whatever else is wanted. Throws IoError for what it refuses,
/// does not have or cannot reach, with what it can. Returns the rate that it gives, which is the nearest one
/// that it has to what was asked.
double set_up_radio(const SoapyDevice& radio, const RadioSettings& settings);

/// Sets the gain; none: the radio chooses. Throws IoError likewise.
void set_gain(const SoapyDevice& radio, std::optional<double> gain_db);

}  // namespace tidemill::io
