#pragma once

#include <string>
#include <vector>

#include "tidemill/tuning/choose/run_config.hpp"

namespace tidemill::internal {

/// A way to run a graph, and what is expected of it.
struct RunCandidate {
    Choice::Way way{};
    double forecast_us = 0;
};

/// Candidates for the fastest way to run a graph, by forecast: those that need fewest threads that share
/// anything first; in order alone, where nothing promises to be worth a trial.
struct RunCandidates {
    std::vector<RunCandidate> ways;
    double in_order_us = 0;             ///< a frame, by the weights
    double bound_us = 0;                ///< see bound_of(); 0: not known
    std::vector<std::string> warnings;  ///< what was left out, and why
};

/// Time of a hand-over between threads where nobody has measured it: `tidemill bench hop`.
inline constexpr double kUsualHandOverUs = 0.2;

/// From what tasks take, the wishes, and what a hand-over between threads costs where the wishes do not say;
/// `thread_per_task` is the schedule in which each task has its own.
RunCandidates run_candidates(const Profile& profile, const RunConfig& how, const Schedule& thread_per_task,
                             double hand_over_us = kUsualHandOverUs);

/// Forecast for dynamic workers on these cores, where ways were found for the same profile.
double dynamic_forecast_us(const Profile& profile, const RunCandidates& found, const Platform& cores);

}  // namespace tidemill::internal
