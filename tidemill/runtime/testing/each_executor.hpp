#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tidemill/runtime/dynamic/dynamic.hpp"
#include "tidemill/runtime/execute/pipeline.hpp"
#include "tidemill/runtime/execute/sequence.hpp"
#include "tidemill/runtime/graph/graph.hpp"
#include "tidemill/runtime/graph/structure.hpp"
#include "tidemill/runtime/testing/test_chain.hpp"

namespace tidemill::internal {

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
    using Made = std::unique_ptr<Executor>;
    using Make = std::function<Made(Graph&)>;
    const std::vector<std::pair<std::string, Make>> all{
        {"in order", [](Graph& g) -> Made { return std::make_unique<Sequence>(g); }},
        {"a thread per task",
         [](Graph& g) -> Made { return std::make_unique<Pipeline>(g, thread_per_task(g)); }},
        {"two threads in the middle",
         [](Graph& g) -> Made {
             return std::make_unique<Pipeline>(g, test_schedule({{1, 1}, {1, 2}, {1, 1}}));
         }},
        {"a thread with two stages",
         [](Graph& g) -> Made { return std::make_unique<Pipeline>(g, shared_thread_schedule()); }},
        {"one worker",
         [](Graph& g) -> Made { return std::make_unique<Dynamic>(g, DynamicOptions{.workers = 1}); }},
        {"three workers",
         [](Graph& g) -> Made { return std::make_unique<Dynamic>(g, DynamicOptions{.workers = 3}); }}};
    for (const auto& [name, make] : all) {
        Graph graph;
        build(graph);
        if (name == "two threads in the middle" && !structure_of(graph).units[1].replicable) continue;
        use(*make(graph), name);
    }
}

}  // namespace tidemill::internal
