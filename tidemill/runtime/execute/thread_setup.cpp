#include "tidemill/runtime/execute/thread_setup.hpp"

#include <exception>
#include <latch>

#include <cxxabi.h>

#include "tidemill/base/guard.hpp"
#include "tidemill/machine/inside_run.hpp"
#include "tidemill/machine/tick_clock.hpp"
#include "tidemill/runtime/execute/frame_failure.hpp"
#include "tidemill/runtime/threads/run_error.hpp"

namespace tidemill {

void ThreadSetup::clone_for(std::span<const Step> steps, const Graph& graph, std::vector<Module*>& modules) {
    for (const Step& step : steps) {
        const TaskId id = step.task.id;
        Module& original = graph.module(id.module);
        const bool copied = modules[id.module] != &original;
        if (original.tasks()[id.task].options.replication != Replication::cloned || copied) continue;
        clones_.push_back({&original, graph.clone(id.module)});
        modules[id.module] = clones_.back().copy.get();
    }
}

void ThreadSetup::merge_clones() {
    internal::FirstFailure first;
    for (Clone& clone : clones_) {
        const auto failure = internal::thrown_by([&] { clone.original->merge(*clone.copy); });
        if (!failure) continue;
        first.note(std::make_exception_ptr(ModuleError(clone.original->name(), "merge", failure)));
    }
    first.rethrow();
}

ThreadReport ThreadSetup::report(std::uint64_t work_ticks, const Durations& pull_waits,
                                 const Durations& push_waits) const {
    return {to_ns(work_ticks) / 1000, report_of(pull_waits), report_of(push_waits), pin_.cores(),
            pin_.refusal()};
}

std::vector<Module*> modules_of(const Graph& graph) {
    std::vector<Module*> modules;
    for (std::size_t m = 0; m < graph.module_count(); ++m) modules.push_back(&graph.module(m));
    return modules;
}

void run_set_up(ThreadPool& pool, const std::vector<ThreadSetup*>& setups,
                const std::function<void(std::size_t)>& settle, const std::function<void(std::size_t)>& work,
                const std::function<void()>& halt) {
    if (setups.size() == 1 && !setups.front()->pin().has_cores()) {
        settle(0);
        return work(0);
    }
    std::latch settled(std::ssize(setups));
    internal::FirstFailure failure;
    const InsideRun* const runs = InsideRun::all();
    std::vector<ThreadPool::Job> jobs;
    for (std::size_t i = 0; i < setups.size(); ++i) {
        jobs.push_back([&, i] {
            const InsideRun::Helper inside(runs);
            setups[i]->pin().pin();
            try {
                failure.note(internal::thrown_by([&] { settle(i); }));
            } catch (const abi::__forced_unwind&) {  // the others wait for it
                failure.note(internal::thrown_by([] { FrameFailure{}.raise(); }));
                settled.count_down();
                throw;
            }
            settled.arrive_and_wait();
            if (!failure.any()) work(i);
            setups[i]->pin().unpin();
        });
    }
    pool.run_all(std::move(jobs), halt);
    failure.rethrow();
}

}  // namespace tidemill
