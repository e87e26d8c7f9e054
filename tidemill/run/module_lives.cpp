#include "tidemill/run/module_lives.hpp"

#include <algorithm>
#include <exception>

#include "tidemill/run/run_error.hpp"

namespace tidemill {

namespace {

// Of the module's first task; a module without tasks sees those of the source.
std::uint64_t first_frame_of(std::size_t module, const Structure& structure,
                             const std::vector<std::uint64_t>& next_frames) {
    const auto is_its_first = [&](const OrderedTask& task) {
        return task.id.module == module && task.id.task == 0;
    };
    const auto task = std::ranges::find_if(structure.order, is_its_first);
    return next_frames[task == structure.order.end() ? 0 : task->branch];
}

bool is_parted(std::size_t module, const Structure& structure) {
    const auto units = std::ranges::count_if(structure.units, [&](const ScheduledUnit& unit) {
        return std::ranges::any_of(
            unit.tasks, [&](std::uint32_t step) { return structure.order[step].id.module == module; });
    });
    return units > 1;
}

}  // namespace

ModuleLives::ModuleLives(const Graph& graph, const Structure& structure,
                         const std::vector<std::uint64_t>& next_frames, bool goes_on)
    : graph_(graph) {
    for (; begun_ < graph.module_count(); ++begun_) {
        Module& module = graph.module(begun_);
        try {
            module.begin(
                {first_frame_of(begun_, structure, next_frames), goes_on, is_parted(begun_, structure)});
        } catch (...) {
            const ModuleError error(module.name(), "begin", std::current_exception());
            end_quietly();
            throw error;
        }
    }
}

ModuleLives::~ModuleLives() {
    end_quietly();
}

// Why the run failed, or could not begin, is told.
void ModuleLives::end_quietly() {
    try {
        end();
    } catch (const ModuleError&) {
    }
}

void ModuleLives::end() {
    std::exception_ptr first;
    while (begun_ > 0) {
        Module& module = graph_.module(--begun_);
        try {
            module.end();
        } catch (...) {
            if (!first)
                first = std::make_exception_ptr(ModuleError(module.name(), "end", std::current_exception()));
        }
    }
    if (first) std::rethrow_exception(first);
}

}  // namespace tidemill
