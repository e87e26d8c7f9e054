#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "tidemill/cli/rx/rx_job.hpp"

namespace tidemill::cli {

/// What was received of one of several carriers.
struct CarrierOutcome {
    std::size_t number = 0;  ///< in a scan
    RxOutcome outcome{};     ///< its own account
};

/// What was received of all.
struct CarriersOutcome {
    std::vector<CarrierOutcome> carriers{};
    RxOutcome together{};  ///< how the run went; frames and packets are those of all

    bool received() const;
    /// Of places that did not take all; empty: none.
    std::string failed_places() const;
};

/// `tidemill dvbs2 rx --carrier all`: all carriers of DVB-S2 in a band at once, each into places of its own.
CarriersOutcome receive_carriers(const RxOptions& options);

/// Where a carrier goes: video.ts becomes video.c2.ts for carrier 2, port 1234 becomes 1235. Throws
/// WrongUsage where there is no such port, and for standard output.
std::string place_of_carrier(const std::string& place, std::size_t carrier);

/// The outcome in some lines for each carrier; with `stats`, tables of tasks, schedule and stages behind
/// them.
std::string carriers_text(const CarriersOutcome& outcome, bool stats);

/// The outcome as one JSON object.
std::string carriers_json(const CarriersOutcome& outcome);

/// Why nothing came out of any, and what to try.
std::string failure_text(const CarriersOutcome& outcome);

}  // namespace tidemill::cli
