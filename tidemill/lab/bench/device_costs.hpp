#pragma once

#include <string>

#include "tidemill/base/json.hpp"

namespace tidemill::cli {

/// Measures copies by memory policy and size, launches, LDPC by batch and policy beside one core, and the
/// receiver with and without. `device` is its id, empty for all that are here; throws JobFailed when there is
/// none. Prints each table as soon as it is there.
Json device_costs(const std::string& device, bool prints);

}  // namespace tidemill::cli
