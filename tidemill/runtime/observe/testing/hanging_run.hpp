#pragma once

#include <chrono>
#include <functional>
#include <future>
#include <string>

#include "tidemill/runtime/graph/graph.hpp"
#include "tidemill/runtime/observe/watchdog.hpp"
#include "tidemill/runtime/report/report.hpp"
#include "tidemill/runtime/report/run_options.hpp"

namespace tidemill::internal {

struct HangingRun {
    RunReport report;
    std::string told;  ///< by the watchdog
};

/// Runs a source and a task that hangs on its first frame, until a watchdog has reported it and stopped the
/// run.
inline HangingRun run_and_hang(const std::function<RunReport(Graph&, const RunOptions&)>& run) {
    Graph graph;
    std::promise<void> released;
    auto& source = graph.add(task("source", out<int>("y"), [](auto y) { y[0] = 1; }));
    auto& stuck = graph.add(
        task("stuck", in<int>("x"), [freed = released.get_future().share()](auto) { freed.wait(); }));
    graph.chain(source, stuck);
    std::stop_source stop;
    HangingRun outcome;
    Watchdog dog(graph, std::chrono::milliseconds(20), [&](const std::string& text) {
        outcome.told = text;
        stop.request_stop();
        released.set_value();
    });
    outcome.report = run(graph, {.stop = stop.get_token(), .observers = {&dog}});
    return outcome;
}

}  // namespace tidemill::internal
