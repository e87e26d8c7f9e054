#include "tidemill/runtime/report/run_totals.hpp"

#include <algorithm>

namespace tidemill {

void RunTotals::add(const RunTotals& more) {
    resize(std::max(step_times.size(), more.step_times.size()));
    for (std::size_t step = 0; step < more.step_times.size(); ++step)
        add(step, more.step_times[step], more.late[step]);
    latencies.add(more.latencies);
    frames += more.frames;
    delivered += more.delivered;
    skipped += more.skipped;
    dropped += more.dropped;
}

void report_totals(const Structure& structure, const RunTotals& totals, RunReport& report) {
    report.units.clear();
    report.tasks.clear();
    report.late = 0;
    for (const ScheduledUnit& unit : structure.units)
        report.units.push_back({unit.name, unit.replicable, unit.lacks_word});
    for (std::size_t u = 0; u < structure.units.size(); ++u) {
        for (const std::uint32_t step : structure.units[u].tasks) {
            report.tasks.push_back(
                {structure.order[step].name, u, report_of(totals.step_times[step]), totals.late[step]});
            report.late += totals.late[step];
        }
    }
    report.frames = totals.frames;
    report.delivered = totals.delivered;
    report.skipped = totals.skipped;
    report.dropped = totals.dropped;
    report.latency = report_of(totals.latencies);
}

}  // namespace tidemill
