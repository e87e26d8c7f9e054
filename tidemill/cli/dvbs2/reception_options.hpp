#pragma once

#include <CLI/CLI.hpp>

#include "tidemill/cli/dvbs2/reception.hpp"

namespace tidemill::cli {

/// Adds what every verb that receives asks about the recording.
void add_reception_options(CLI::App& verb, ReceptionOptions& options);

}  // namespace tidemill::cli
