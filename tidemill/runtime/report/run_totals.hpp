#pragma once

#include <cstdint>
#include <vector>

#include "tidemill/runtime/graph/structure.hpp"
#include "tidemill/runtime/report/durations.hpp"
#include "tidemill/runtime/report/report.hpp"

namespace tidemill {

/// Totals of a stream so far, over all crews that worked on it.
struct RunTotals {
    std::vector<Durations> step_times;  ///< per step of the order
    std::vector<std::uint64_t> late;    ///< per step, frames that it made late
    Durations latencies;
    std::uint64_t frames = 0;
    std::uint64_t delivered = 0;
    std::uint64_t skipped = 0;
    std::uint64_t dropped = 0;

    void resize(std::size_t steps) {
        step_times.resize(steps);
        late.resize(steps, 0);
    }
    void add(std::size_t step, const Durations& times, std::uint64_t made_late) {
        step_times[step].add(times);
        late[step] += made_late;
    }
    void add(const RunTotals& more);
};

/// Puts what a stream did into a report, in place of its own counts.
void report_totals(const Structure& structure, const RunTotals& totals, RunReport& report);

}  // namespace tidemill
