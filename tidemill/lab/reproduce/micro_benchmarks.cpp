#include "tidemill/lab/reproduce/micro_benchmarks.hpp"

#include <span>
#include <vector>

#include "tidemill/base/quantile.hpp"
#include "tidemill/runtime/execute/sequence.hpp"
#include "tidemill/runtime/graph/control.hpp"
#include "tidemill/runtime/graph/function_task.hpp"
#include "tidemill/scheduling/static/interruption.hpp"

namespace tidemill::cli {

namespace {

using TaskClock = std::chrono::steady_clock;
using Wait = std::chrono::nanoseconds;

constexpr double kPublishedTasks = 1'125'000;
constexpr double kPublishedWaitNs = 4000;

void wait_actively(Wait time) {
    const TaskClock::time_point end = TaskClock::now() + time;
    while (TaskClock::now() < end) {
    }
}

GraphPart chain_of(Graph& graph, int tasks, Wait wait) {
    const auto add = [&]() -> Module& {
        return graph.add(task("wait", in<int>("x"), out<int>("y"),
                              [wait](std::span<const int>, std::span<int>) { wait_actively(wait); }));
    };
    Module* last = &add();
    GraphPart part{(*last)["x"], (*last)["y"]};
    for (int i = 1; i < tasks; ++i) {
        last = &add();
        graph.bind(part.output, (*last)["x"]);
        part.output = (*last)["y"];
    }
    return part;
}

// The body so many times: a while loop whose control task counts.
GraphPart repeated(Graph& graph, const GraphPart& body, int times) {
    auto& loop = graph.add<Loop<int>>("loop");
    auto& iterate = graph.add(task("iterate", in<int>("x"), out<std::uint8_t>("more"),
                                   [times, done = 0](auto, std::span<std::uint8_t> more) mutable {
                                       more[0] = done < times;
                                       done = more[0] ? done + 1 : 0;
                                   }));
    graph.bind(loop["turn"], iterate["x"]);
    graph.bind(iterate["more"], loop["control"]);
    graph.bind(loop["turn"], loop["data"]);
    graph.bind(loop["body"], body.input);
    graph.bind(body.output, loop["next"]);
    return {loop["first"], loop["done"]};
}

// One path after the other.
GraphPart by_turns(Graph& graph, const std::vector<GraphPart>& paths) {
    const auto count = static_cast<std::uint8_t>(paths.size());
    auto& exclusive = graph.add<Switch<int>>("switch", count);
    auto& iterate = graph.add(task("iterate", out<std::uint8_t>("path"),
                                   [count, next = std::uint8_t{0}](std::span<std::uint8_t> path) mutable {
                                       path[0] = next;
                                       next = static_cast<std::uint8_t>((next + 1) % count);
                                   }));
    graph.bind(iterate["path"], exclusive["control"]);
    for (std::size_t path = 0; path < paths.size(); ++path) {
        graph.bind(exclusive.out_of_path[path], paths[path].input);
        graph.bind(paths[path].output, exclusive.into_path[path]);
    }
    return {exclusive["data"], exclusive["joined"]};
}

GraphPart chain(Graph& graph, Wait wait) {
    return chain_of(graph, 3, wait);
}

GraphPart loop(Graph& graph, Wait wait) {
    return repeated(graph, chain_of(graph, 3, wait), 10);
}

GraphPart nested_loops(Graph& graph, Wait wait) {
    return repeated(graph, repeated(graph, chain_of(graph, 3, wait), 5), 2);
}

GraphPart exclusive_paths(Graph& graph, Wait wait) {
    return by_turns(graph, {chain_of(graph, 3, wait), chain_of(graph, 2, wait), chain_of(graph, 1, wait)});
}

}  // namespace

double MicroBenchmark::overhead_ns(std::chrono::nanoseconds wait, std::uint64_t all_tasks) const {
    interruption_point();
    const std::uint64_t repetitions = 1 + all_tasks / tasks;
    std::vector<TaskClock::time_point> ends;
    ends.reserve(repetitions);
    Graph graph;
    const GraphPart part = build(graph, wait);
    auto& end = graph.add(
        task("end", in<int>("x"), [&ends, every = frames, left = frames](std::span<const int>) mutable {
            if (--left > 0) return;
            ends.push_back(TaskClock::now());
            left = every;
        }));
    graph.bind(std::vector<int>{0}, part.input);
    graph.bind(part.output, end["x"]);
    Sequence(graph).run({.frames = repetitions * frames});
    std::vector<double> times_ns;
    for (std::size_t i = 1; i < ends.size(); ++i)
        times_ns.push_back(std::chrono::duration<double, std::nano>(ends[i] - ends[i - 1]).count());
    return middle_value(times_ns) / static_cast<double>(tasks) - static_cast<double>(wait.count());
}

double MicroBenchmark::published_overhead_ns() const {
    return 1e6 * published_ms / kPublishedTasks - kPublishedWaitNs;
}

const std::array<MicroBenchmark, 4>& micro_benchmarks() {
    static constexpr std::array kAll{
        MicroBenchmark{"MB1, a chain of three", 4656.45, 1, 3, chain},
        MicroBenchmark{"MB2, a loop of 10 turns", 4744.08, 1, 30, loop},
        MicroBenchmark{"MB3, nested loops of 2 and 5", 4777.03, 1, 30, nested_loops},
        MicroBenchmark{"MB4, a switch of three paths", 4784.88, 3, 6, exclusive_paths},
    };
    return kAll;
}

}  // namespace tidemill::cli
