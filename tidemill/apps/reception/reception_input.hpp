#pragma once

#include "tidemill/apps/reception/reception.hpp"
#include "tidemill/apps/reception/signal_search.hpp"

namespace tidemill::cli {

/// Values of a signal that are searched, by the options.
SearchFor searched(const ReceptionOptions& options);

/// As given; 0: unknown yet.
double told_symbol_rate_hz(const ReceptionOptions& options);

/// Opens the recording; of a stream reads as much as a look for the carrier takes, or for all of a band.
/// Throws IoError, WrongUsage or JobFailed.
ReceptionJob open_job(const ReceptionOptions& options, bool whole_band = false);

}  // namespace tidemill::cli
