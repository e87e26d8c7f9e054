#include "tidemill/runtime/execute/module_lifecycle.hpp"

#include <exception>
#include <utility>

#include "tidemill/base/guard.hpp"
#include "tidemill/runtime/threads/run_error.hpp"

namespace tidemill {

namespace {

// Runs for the begin() of each module, found in one walk. A module without tasks sees the frames of the
// source.
std::vector<Run> runs_of(const Graph& graph, const Structure& structure,
                         const std::vector<std::uint64_t>& next_frames, bool goes_on) {
    std::vector<Run> runs(graph.module_count(), Run{next_frames.front(), goes_on, /*parted=*/false});
    std::vector<const ScheduledUnit*> unit_of(runs.size(), nullptr);
    for (const ScheduledUnit& unit : structure.units) {
        for (const std::uint32_t step : unit.tasks) {
            const OrderedTask& task = structure.order[step];
            Run& run = runs[task.id.module];
            if (task.id.task == 0) run.first_frame = next_frames[task.branch];
            const ScheduledUnit* const seen = std::exchange(unit_of[task.id.module], &unit);
            run.parted |= seen && seen != &unit;
        }
    }
    return runs;
}

}  // namespace

ModuleLifecycle::ModuleLifecycle(const Graph& graph, const Structure& structure,
                                 const std::vector<std::uint64_t>& next_frames, bool goes_on)
    : graph_(graph) {
    const std::vector<Run> runs = runs_of(graph, structure, next_frames, goes_on);
    for (; begun_ < graph.module_count(); ++begun_) {
        Module& module = graph.module(begun_);
        const auto failure = internal::thrown_by([&] { module.begin(runs[begun_]); });
        if (!failure) continue;
        end_quietly();
        throw ModuleError(module.name(), "begin", failure);
    }
}

ModuleLifecycle::~ModuleLifecycle() {
    end_quietly();
}

// Why the run failed, or could not begin, is passed on.
void ModuleLifecycle::end_quietly() {
    internal::thrown_by([this] { end(); });
}

void ModuleLifecycle::end() {
    std::exception_ptr first;
    while (begun_ > 0) {
        Module& module = graph_.module(--begun_);
        const auto failure = internal::thrown_by([&] { module.end(); });
        if (failure && !first) first = std::make_exception_ptr(ModuleError(module.name(), "end", failure));
    }
    if (first) std::rethrow_exception(first);
}

}  // namespace tidemill
