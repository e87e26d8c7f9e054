#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "tidemill/runtime/report/report.hpp"

namespace tidemill {

namespace {

// Below this share of the time even the busiest threads mostly wait: none of them limits.
constexpr double kBusy = 0.75;
// A unit with this share of its stage's work is what the stage is slow for.
constexpr double kDominant = 0.4;

struct BusyStage {
    std::size_t index = 0;
    double load = 0;     // of its busiest thread, 0 to 1
    double work_us = 0;  // of that thread there
};

// Against its own waits, not the run's length: a thread may have come with a change of schedule.
double load_of(const ThreadReport& thread) {
    const double work_us = thread.work_us + thread.elsewhere_us;
    const double all_us = work_us + thread.pull_waits.total_us + thread.push_waits.total_us;
    return all_us > 0 ? work_us / all_us : 0;
}

BusyStage busiest_stage(const RunReport& report) {
    BusyStage busiest;
    for (std::size_t s = 0; s < report.stages.size(); ++s) {
        for (const ThreadReport& thread : report.stages[s].threads) {
            const double load = load_of(thread);
            const bool is_more =
                load > busiest.load || (load == busiest.load && thread.work_us > busiest.work_us);
            if (is_more) busiest = {s, load, thread.work_us};
        }
    }
    return busiest;
}

std::string stage_name(const RunReport& report, std::size_t index) {
    const StageReport& stage = report.stages[index];
    const std::string& first = report.units[stage.first_unit].name;
    const std::string& last = report.units[stage.first_unit + stage.units - 1].name;
    return fmt::format("stage {} ({})", index + 1, stage.units == 1 ? first : first + " .. " + last);
}

std::string advice_for_replicable(const RunReport& report, const StageReport& stage,
                                  const std::string& unit) {
    const auto first = report.units.begin() + static_cast<std::ptrdiff_t>(stage.first_unit);
    const auto last = first + static_cast<std::ptrdiff_t>(stage.units);
    const bool whole = std::all_of(first, last, [](const UnitReport& each) { return each.replicable; });
    if (whole) return fmt::format("{} is replicable: give the stage another core", unit);
    return fmt::format("{} is replicable: give it a stage of its own, with another core", unit);
}

std::string advice_for_sequential(const StageReport& stage, const std::string& unit) {
    if (stage.units == 1)
        return fmt::format("{} is sequential: only a faster core or faster code helps", unit);
    return fmt::format("{} is sequential: move the stage's other tasks to other stages", unit);
}

std::string advice(const RunReport& report, const StageReport& stage) {
    const std::vector<double> weights = report.unit_weights_us();
    const auto first = weights.begin() + static_cast<std::ptrdiff_t>(stage.first_unit);
    const auto last = first + static_cast<std::ptrdiff_t>(stage.units);
    const auto heaviest = std::max_element(first, last);
    const double share = *heaviest / std::accumulate(first, last, 0.0);
    const UnitReport& unit = report.units[static_cast<std::size_t>(heaviest - weights.begin())];
    if (stage.units > 1 && share < kDominant) {
        return fmt::format("no task of it stands out ({} has {:.0f} %): split it into two stages", unit.name,
                           100 * share);
    }
    const std::string blame =
        stage.units > 1 ? fmt::format("{} is {:.0f} % of it; ", unit.name, 100 * share) : "";
    return blame + (unit.replicable ? advice_for_replicable(report, stage, unit.name)
                                    : advice_for_sequential(stage, unit.name));
}

}  // namespace

std::string bottleneck(const RunReport& report) {
    const BusyStage busiest = busiest_stage(report);
    if (busiest.load == 0 || report.frames == 0) {
        return "no bottleneck is known: nothing was run, or without statistics";
    }
    const std::string name = stage_name(report, busiest.index);
    const double outside = report.elapsed_s > 0 ? report.waited_outside_us / (report.elapsed_s * 1e6) : 0;
    if (busiest.load < kBusy && outside > 1 - kBusy) {
        return fmt::format(
            "no stage limits: what comes from outside was waited for {:.0f} % of the time, and "
            "even {} is busy only {:.0f} % of it",
            100 * outside, name, 100 * busiest.load);
    }
    if (busiest.load < kBusy) {
        return fmt::format(
            "no stage limits: even {} is busy only {:.0f} % of the time; threads wait for each other or for "
            "a "
            "core, so fewer stages, deeper rings or bigger frames help",
            name, 100 * busiest.load);
    }
    return fmt::format("{} is busy {:.0f} % of the time; {}", name, 100 * busiest.load,
                       advice(report, report.stages[busiest.index]));
}

}  // namespace tidemill
