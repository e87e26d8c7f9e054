#include "tidemill/runtime/report/report.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace tidemill {

std::vector<double> RunReport::unit_weights_us() const {
    std::vector<double> weights(units.size(), 0);
    if (frames == 0) return weights;
    for (const TaskReport& task : tasks) {
        weights[task.unit] += task.calls.total_us / static_cast<double>(frames);
    }
    return weights;
}

double RunReport::period_us() const {
    return frames > 0 ? elapsed_s * 1e6 / static_cast<double>(frames) : 0;
}

std::size_t RunReport::token_bytes() const {
    std::size_t bytes = 0;
    for (const SegmentReport& segment : segments) bytes += segment.bytes;
    return bytes;
}

void count_as_waiting(RunReport& report, const std::string& task, double waited_us) {
    const auto found = std::ranges::find(report.tasks, task, &TaskReport::name);
    if (found == report.tasks.end() || found->calls.count == 0) return;
    DurationReport& calls = found->calls;
    const double taken_us = std::clamp(waited_us, 0.0, calls.total_us);
    report.waited_outside_us += taken_us;
    calls.total_us -= taken_us;
    calls.mean_us = calls.total_us / static_cast<double>(calls.count);
    const auto stage = std::ranges::find_if(report.stages, [&](const StageReport& each) {
        return each.first_unit <= found->unit && found->unit < each.first_unit + each.units;
    });
    if (stage == report.stages.end() || stage->threads.empty()) return;
    // Frames from outside come in order, so its stage has one thread. Stages are reported under the last
    // schedule alone.
    ThreadReport& thread = stage->threads.front();
    const double part = report.elapsed_s > 0 ? report.stages_elapsed_s / report.elapsed_s : 1;
    const double of_stage_us = std::min(taken_us * part, thread.work_us);
    thread.work_us -= of_stage_us;
    thread.pull_waits.total_us += of_stage_us;
}

std::string kind_table(const RunReport& report) {
    if (report.on_kinds.empty()) return {};
    std::size_t width = 4;
    for (const UnitReport& unit : report.units) width = std::max(width, unit.name.size());
    std::string table = fmt::format("{:<{}}  {:<10}  {:>9}  {:>12}  {:>9}  {:>7}  {}\n", "unit", width,
                                    "kind", "calls", "total us", "mean us", "factor", "quality");
    for (const UnitOnKind& on : report.on_kinds) {
        const double mean_us = on.calls > 0 ? on.total_us / static_cast<double>(on.calls) : 0;
        table += fmt::format("{:<{}}  {:<10}  {:>9}  {:>12.2f}  {:>9.2f}  {:>7}  {}\n",
                             report.units[on.unit].name, width, on.kind, on.calls, on.total_us, mean_us,
                             on.factor ? fmt::format("{:.2f}", *on.factor) : "-", on.quality);
    }
    return table;
}

std::string best_possible_line(const RunReport& report) {
    std::string text;
    if (report.best) {
        const BestPossible& best = *report.best;
        text = fmt::format(
            "bound      {:.2f} us is the best possible on {}: the period of {:.2f} is {:.1f} % {} it; {}\n",
            best.bound_us, best.cores, best.period_us, std::abs(best.percent()),
            best.percent() < 0 ? "below" : "above", best.between);
    }
    if (!report.emulated.empty()) text += fmt::format("emulated   {}\n", report.emulated);
    return text;
}

std::string error_lines(const RunReport& report) {
    std::string text;
    for (const auto& [socket, marks] : report.lost_marks) {
        text += fmt::format("marks      {} had no room for {}: let its list hold more\n", socket, marks);
    }
    return text;
}

std::string energy_line(const EnergyUse& energy, std::uint64_t frames) {
    if (!energy.joules) return fmt::format("energy     not measured ({})\n", energy.not_measured);
    return fmt::format("energy     {:.3g} J, {:.3g} W, {:.3g} mJ a frame, by {}\n", *energy.joules,
                       energy.watts().value_or(0),
                       1000 * energy.joules_per(static_cast<double>(frames)).value_or(0), energy.meter);
}

std::string task_table(const RunReport& report) {
    double total = 0;
    std::size_t width = 4;
    for (const TaskReport& task : report.tasks) {
        total += task.calls.total_us;
        width = std::max(width, task.name.size());
    }
    std::string table = fmt::format("{:<{}}  {:>9}  {:>9}  {:>9}  {:>9}  {:>9}  {:>9}  {:>6}\n", "task",
                                    width, "calls", "mean us", "p50", "p90", "p99", "max", "share");
    for (const TaskReport& task : report.tasks) {
        const DurationReport& calls = task.calls;
        table +=
            fmt::format("{:<{}}  {:>9}  {:>9.2f}  {:>9.2f}  {:>9.2f}  {:>9.2f}  {:>9.2f}  {:>5.1f}%\n",
                        task.name, width, calls.count, calls.mean_us, calls.p50_us, calls.p90_us,
                        calls.p99_us, calls.most_us, total > 0 ? 100 * task.calls.total_us / total : 0.0);
    }
    return table;
}

namespace {

std::string cluster_lines(const RunReport& report) {
    std::string lines;
    for (const ClusterReport& cluster : report.clusters)
        lines += fmt::format("cluster {} ({}): {} of {} cores used, busy {:.1f}%\n", cluster.cores,
                             cluster.kind, cluster.cores_used, cluster.core_count, 100 * cluster.busy);
    return lines;
}

}  // namespace

std::string stage_table(const RunReport& report) {
    std::string table = fmt::format("{:<5}  {:<6}  {:<10}  {:>9}  {:>9}  {:>9}  {}\n", "stage", "thread",
                                    "cores", "work", "pull wait", "push wait", "tasks");
    const double elapsed_us = std::max(report.stages_elapsed_s * 1e6, 1e-9);
    const auto share = [&](double us) { return fmt::format("{:.1f}%", 100 * us / elapsed_us); };
    for (std::size_t s = 0; s < report.stages.size(); ++s) {
        const StageReport& stage = report.stages[s];
        const std::string& first = report.units[stage.first_unit].name;
        const std::string& last = report.units[stage.first_unit + stage.units - 1].name;
        for (std::size_t t = 0; t < stage.threads.size(); ++t) {
            const ThreadReport& thread = stage.threads[t];
            table += fmt::format("{:<5}  {:<6}  {:<10}  {:>9}  {:>9}  {:>9}  {}\n", s + 1, t + 1,
                                 thread.cores, share(thread.work_us), share(thread.pull_waits.total_us),
                                 share(thread.push_waits.total_us),
                                 stage.units == 1 ? first : fmt::format("{} .. {}", first, last));
            if (!thread.not_pinned.empty())
                table += fmt::format("       not pinned: {}\n", thread.not_pinned);
        }
    }
    return table + cluster_lines(report);
}

}  // namespace tidemill
