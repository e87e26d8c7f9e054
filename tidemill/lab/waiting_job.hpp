#pragma once

#include <cstdint>

#include "tidemill/scheduling/static/strategy.hpp"

namespace tidemill::cli {

/// Waiting pipelines to run, and for how long.
struct WaitingOptions {
    double period_ms = 50;
    std::uint64_t frames = 80;
    const Strategy* strategy = &tidemill::strategy("herad");  ///< null: all
    bool json = false;
};

/// Schedules the published DVB-S2 profiles, writes down the predicted periods, and measures them in pipelines
/// of tasks that wait.
int run_waiting(const WaitingOptions& options);

}  // namespace tidemill::cli
