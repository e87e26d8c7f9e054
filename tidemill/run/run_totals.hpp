#pragma once

#include <cstdint>
#include <vector>

#include "tidemill/graph/structure.hpp"
#include "tidemill/run/durations.hpp"
#include "tidemill/run/report.hpp"

namespace tidemill {

/// What a stream did so far, over all crews that worked on it.
struct RunTotals {
    std::vector<Durations> step_times;  ///< per step of the order
    Durations latencies;
    std::uint64_t frames = 0;
    std::uint64_t delivered = 0;
    std::uint64_t skipped = 0;
};

/// Puts what a stream did into a report.
void report_totals(const Structure& structure, const RunTotals& totals, RunReport& report);

}  // namespace tidemill
