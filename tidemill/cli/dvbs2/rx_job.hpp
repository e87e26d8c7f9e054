#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tidemill/cli/dvbs2/reception.hpp"
#include "tidemill/cli/dvbs2/rx_fields.hpp"
#include "tidemill/cli/dvbs2/rx_outputs.hpp"
#include "tidemill/cli/watched_run.hpp"

namespace tidemill::cli {

/// `tidemill dvbs2 rx`, as the command line says it.
struct RxOptions {
    ReceptionOptions reception;
    RxOutputOptions outputs;
    std::string status;  ///< file for a line of JSON each second, "-" for standard output; empty: none
    // Decoding times vary from frame to frame; and where other programs want the cores too, a stage must find
    // work for the whole slice of time that it gets. So much may wait between two stages.
    RunningOptions running{.how = {.profile_s = 1, .ring_depth = 32, .window = {.iterations = 32}}};
    bool json = false;
};

/// What was received, and how.
struct RxOutcome {
    ReceptionJob job;
    std::optional<ReceptionProfile> profile;
    Executor executor{};
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
