#include "tidemill/runtime/dynamic/kind_times.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "tidemill/base/plural.hpp"
#include "tidemill/machine/tick_clock.hpp"

namespace tidemill {

namespace {

constexpr std::uint64_t kMeasured = 8;  // calls that a mean is taken seriously from

// Share of the workers' time without work.
double idle_share(const RunReport& report) {
    double work_us = 0;
    std::size_t workers = 0;
    for (const StageReport& stage : report.stages) {
        for (const ThreadReport& thread : stage.threads) work_us += thread.work_us;
        workers += stage.threads.size();
    }
    const double all_us = static_cast<double>(workers) * report.stages_elapsed_s * 1e6;
    return all_us > 0 ? std::clamp(1 - work_us / all_us, 0.0, 1.0) : 0;
}

}  // namespace

KindTimes::KindTimes(const Structure& structure, std::vector<policy::KindId> kind_of_worker,
                     std::vector<std::string> names)
    : structure_(structure),
      kind_of_worker_(std::move(kind_of_worker)),
      names_(std::move(names)),
      times_(structure.units.size() * names_.size()) {}

void KindTimes::add(policy::KindId kind, const std::vector<Durations>& step_times) {
    if (step_times.empty()) return;
    measured_ = true;
    for (std::size_t unit = 0; unit < structure_.units.size(); ++unit) {
        OnKind& on = times_[unit * names_.size() + kind];
        for (const std::uint32_t step : structure_.units[unit].tasks) {
            on.frames = std::max(on.frames, step_times[step].count());
            on.total_us += to_ns(step_times[step].sum()) / 1e3;
        }
    }
}

void KindTimes::tell(RunReport& report) const {
    if (!measured_ || report.frames == 0) return;
    if (kinds() > 1) {
        for (std::size_t unit = 0; unit < structure_.units.size(); ++unit)
            for (policy::KindId kind = 0; kind < kinds(); ++kind)
                report.on_kinds.push_back(report_of(unit, kind));
    }
    const Bound bound = bound_of(chain(report.frames), platform());
    const double period_us = report.stages_elapsed_s * 1e6 / static_cast<double>(report.frames);
    report.best =
        BestPossible{in_words(platform().kinds()), period_us, bound.period_us, between(bound, report)};
}

UnitOnKind KindTimes::report_of(std::size_t unit, policy::KindId kind) const {
    const OnKind& here = on(unit, kind);
    const OnKind& first = on(unit, 0);
    UnitOnKind told{unit, names_[kind], here.frames, here.total_us, std::nullopt, "absent"};
    if (here.frames == 0 || first.frames == 0 || first.total_us <= 0) return told;
    told.factor = here.mean_us() / first.mean_us();
    told.quality = std::min(here.frames, first.frames) >= kMeasured ? "measured" : "estimated";
    return told;
}

Platform KindTimes::platform() const {
    Platform platform;
    for (policy::KindId kind = 0; kind < kinds(); ++kind)
        platform.set(names_[kind], static_cast<int>(std::ranges::count(kind_of_worker_, kind)));
    return platform;
}

// A unit that never ran weighs nothing; where it ran, a kind on which it did not is one that is not known to
// help.
Chain KindTimes::chain(std::uint64_t source_frames) const {
    Chain chain{names_, {}};
    for (std::size_t unit = 0; unit < structure_.units.size(); ++unit) {
        ChainTask task{structure_.units[unit].name, structure_.units[unit].replicable, {}};
        std::uint64_t frames = 0;
        for (policy::KindId kind = 0; kind < kinds(); ++kind) frames += on(unit, kind).frames;
        for (policy::KindId kind = 0; kind < kinds(); ++kind) {
            const double share = static_cast<double>(frames) / static_cast<double>(source_frames);
            const double weight = on(unit, kind).frames > 0 ? on(unit, kind).mean_us() * share : kCannotRun;
            task.weight_us.push_back(frames > 0 ? weight : 0);
        }
        chain.tasks.push_back(std::move(task));
    }
    return chain;
}

std::size_t KindTimes::absent() const {
    std::size_t absent = 0;
    for (std::size_t unit = 0; unit < structure_.units.size(); ++unit) {
        std::size_t unknown = 0;
        for (policy::KindId kind = 0; kind < kinds(); ++kind) unknown += on(unit, kind).frames == 0 ? 1 : 0;
        absent += unknown < names_.size() ? unknown : 0;
    }
    return absent;
}

std::string KindTimes::between(const Bound& bound, const RunReport& report) const {
    std::string text =
        fmt::format("workers had nothing to do {:.0f} % of the time", 100 * idle_share(report));
    if (bound.sequential_task)
        text += fmt::format(", and {} is sequential and bounds it", *bound.sequential_task);
    if (const std::size_t unknown = absent(); unknown > 0)
        text += fmt::format("; {} time{} on a kind {} absent", unknown, plural(unknown),
                            unknown == 1 ? "is" : "are");
    return text;
}

}  // namespace tidemill
