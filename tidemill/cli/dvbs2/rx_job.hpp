#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tidemill/cli/adapting.hpp"
#include "tidemill/cli/dvbs2/reception.hpp"
#include "tidemill/cli/dvbs2/rx_fields.hpp"
#include "tidemill/cli/dvbs2/rx_outputs.hpp"
#include "tidemill/cli/insight.hpp"

namespace tidemill::cli {

/// `tidemill dvbs2 rx`, as the command line says it.
struct RxOptions {
    ReceptionOptions reception;
    RxOutputOptions outputs;
    std::string status;    ///< file for a line of JSON each second, "-" for standard output; empty: none
    std::string cores;     ///< for the automatic schedule; empty: all
    std::string schedule;  ///< schedule file; empty: make one from a profile
    std::string executor = "pipeline";
    std::string policy = "gpriority";  ///< of --executor dynamic
    double profile_s = 1.0;
    AdaptOptions adapt{};
    std::string energy_meter = "auto";  ///< as find_energy_meter() reads it
    InsightOptions insight{};
    bool json = false;
};

/// What was received, and how.
struct RxOutcome {
    ReceptionJob job;
    std::optional<ReceptionProfile> profile;
    std::string executor;
    std::optional<Schedule> schedule;
    std::optional<double> predicted_mbps;
    std::optional<double> predicted_period_us;
    RunReport run;
    std::vector<AdaptationChange> changes;  ///< of the schedule, on the way
    dvbs2::ReceptionReport report;
    TsSeen ts;
    std::uint64_t missing_samples = 0;
    bool interrupted = false;
    std::string output;

    bool received() const { return report.totals.frames > report.totals.frames_bad && !only_unsupported(); }
    /// Frames came, but carry what cannot be given out.
    bool only_unsupported() const {
        return report.packets.frames_unsupported > 0 && report.packets.packets == 0 &&
               report.generic_frames == 0;
    }
};

/// Receives: profiles and schedules unless told how, runs, and keeps the accounts.
RxOutcome receive(const RxOptions& options);

/// The outcome in words and tables.
std::string report_text(const RxOutcome& outcome);

/// The outcome as one JSON object.
std::string report_json(const RxOutcome& outcome);

/// Why nothing came out, and what to try.
std::string failure_text(const RxOutcome& outcome);

}  // namespace tidemill::cli
