#pragma once

#include "tidemill/apps/reception/rx_options.hpp"
#include "tidemill/apps/reception/rx_outcome.hpp"

namespace tidemill::cli {

/// Receives one carrier: profiles and schedules unless the options say how, runs, and keeps the accounts.
/// Throws IoError, WrongUsage or JobFailed.
RxOutcome receive(const RxOptions& options);

/// `tidemill dvbs2 rx --carrier all`: all carriers of DVB-S2 in a band at once, each into places of its own.
CarriersOutcome receive_carriers(RxOptions options);

}  // namespace tidemill::cli
