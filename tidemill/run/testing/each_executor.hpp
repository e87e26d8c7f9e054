#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "tidemill/graph/graph.hpp"
#include "tidemill/graph/structure.hpp"
#include "tidemill/run/dynamic/dynamic.hpp"
#include "tidemill/run/pipeline.hpp"
#include "tidemill/run/sequence.hpp"
#include "tidemill/run/testing/test_chain.hpp"

namespace tidemill::internal {

/// A run of any executor, for tests that go through all of them.
struct AnyExecutor {
    std::function<RunReport(const RunOptions&)> run;
    std::function<RunReport(const RunOptions&)> resume;
    std::function<Checkpoint()> checkpoint;
};

template <class Executor>
AnyExecutor any(Executor& executor) {
    return {[&](const RunOptions& options) { return executor.run(options); },
            [&](const RunOptions& options) { return executor.resume(options); },
            [&] { return executor.checkpoint(); }};
}

/// The stages of a chain of three tasks, the first and the last of which one thread has.
inline Schedule shared_thread_schedule() {
    Schedule schedule = test_schedule({{1, 1}, {1, 1}, {1, 1}});
    schedule.stages[0].owners = schedule.stages[2].owners = {1};
    schedule.stages[1].owners = {2};
    return schedule;
}

/// Calls `use(executor, name)` under one executor after the other, each on a graph that `build` has made
/// anew: a chain of three tasks, each a unit. There is one with two threads in the middle where that unit
/// allows it.
template <class Build, class Use>
void under_each_executor(Build build, Use use) {
    using Make = std::function<void(Graph&, const std::function<void(AnyExecutor)>&)>;
    const auto with = [](auto make) -> Make {
        return [make](Graph& graph, const std::function<void(AnyExecutor)>& then) {
            auto executor = make(graph);
            then(any(executor));
        };
    };
    const std::vector<std::pair<std::string, Make>> all{
        {"in order", with([](Graph& g) { return Sequence(g); })},
        {"a thread per task", with([](Graph& g) { return Pipeline(g, thread_per_task(g)); })},
        {"two threads in the middle", with([](Graph& g) {
             return Pipeline(g, test_schedule({{1, 1}, {1, 2}, {1, 1}}));
         })},
        {"a thread with two stages", with([](Graph& g) { return Pipeline(g, shared_thread_schedule()); })},
        {"one worker", with([](Graph& g) { return Dynamic(g, {.workers = 1}); })},
        {"three workers", with([](Graph& g) { return Dynamic(g, {.workers = 3}); })}};
    for (const auto& [name, make] : all) {
        Graph graph;
        build(graph);
        if (name == "two threads in the middle" && !structure_of(graph).units[1].replicable) continue;
        make(graph, [&, &name = name](AnyExecutor executor) { use(executor, name); });
    }
}

}  // namespace tidemill::internal
