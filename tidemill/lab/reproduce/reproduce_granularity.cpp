#include <algorithm>
#include <chrono>
#include <span>
#include <vector>

#include "tidemill/base/quantile.hpp"
#include "tidemill/lab/reproduce/reproduction.hpp"
#include "tidemill/runtime/execute/sequence.hpp"
#include "tidemill/runtime/graph/function_task.hpp"
#include "tidemill/scheduling/static/interruption.hpp"

// StreamPU's micro-benchmark of a chain, measured here: three tasks that wait actively.
namespace tidemill::cli {

namespace {

using TaskClock = std::chrono::steady_clock;

constexpr std::uint64_t kTasksOfFrame = 3;

void wait_actively(std::chrono::nanoseconds time) {
    const TaskClock::time_point end = TaskClock::now() + time;
    while (TaskClock::now() < end) {
    }
}

// ns that a frame takes in order: the median, so that what else the machine does is not in it.
double frame_ns(std::chrono::nanoseconds task_time, std::uint64_t frames) {
    interruption_point();
    std::vector<TaskClock::time_point> ends;
    ends.reserve(frames);
    Graph graph;
    auto& first = graph.add(task("t1", out<int>("y"), [=](std::span<int>) { wait_actively(task_time); }));
    auto& second = graph.add(task("t2", in<int>("x"), out<int>("y"),
                                  [=](std::span<const int>, std::span<int>) { wait_actively(task_time); }));
    auto& third = graph.add(task("t3", in<int>("x"), [&ends, task_time](std::span<const int>) {
        wait_actively(task_time);
        ends.push_back(TaskClock::now());
    }));
    graph.chain(first, second, third);
    Sequence(graph).run({.frames = frames});
    std::vector<double> times_ns;
    for (std::size_t i = 1; i < ends.size(); ++i)
        times_ns.push_back(std::chrono::duration<double, std::nano>(ends[i] - ends[i - 1]).count());
    return middle_value(times_ns);
}

// ns of a task beyond the time that it waits.
double overhead_ns(double of_frame_ns, double task_ns) {
    return of_frame_ns / static_cast<double>(kTasksOfFrame) - task_ns;
}

}  // namespace

std::vector<ResultTable> streampu_table1(const ReproduceOptions&) {
    constexpr std::chrono::nanoseconds kTask = std::chrono::microseconds(4);
    constexpr std::uint64_t kPublishedFrames = 375'000;
    constexpr std::uint64_t kFrames = kPublishedFrames / 20;
    const double ours_ns = frame_ns(kTask, kFrames);
    ResultTable table{"StreamPU, Table 1: tasks of 4 us each",
                      {{"micro-benchmark"},
                       {"tasks publ.", 0},
                       {"ms publ."},
                       {"ns a task over 4 us publ.", 1},
                       {"tasks", 0},
                       {"ms at the median frame, here"},
                       {"ns a task over 4 us", 1}}};
    struct Known {
        const char* name;
        double ms;
    };
    for (const auto& [name, ms] : {Known{"MB1, a chain of three", 4656.45}, Known{"MB2, a loop", 4744.08},
                                   Known{"MB3, nested loops", 4777.03}, Known{"MB4, a switch", 4784.88}}) {
        const bool chain = table.rows.empty();
        const double tasks = kTasksOfFrame * kPublishedFrames;
        table.rows.push_back({name, tasks, ms, 1e6 * ms / tasks - 4000,
                              chain ? Cell{static_cast<double>(kTasksOfFrame * kFrames)} : Cell{},
                              chain ? Cell{1e-6 * ours_ns * static_cast<double>(kFrames)} : Cell{},
                              chain ? Cell{overhead_ns(ours_ns, 4000)} : Cell{}});
    }
    table.notes.emplace_back(
        "Published on a Core i5-8250U at 1.6 GHz over all frames, ours on whatever runs this; both with a "
        "look at the clock "
        "in each "
        "task. Loops and switches are made otherwise here (tasks that emit again or skip), so only the chain "
        "compares.");
    return {table};
}

std::vector<ResultTable> streampu_fig5(const ReproduceOptions&) {
    constexpr std::uint64_t kFrames = 5000;
    ResultTable table{"StreamPU, Fig. 5: overhead by what a task takes, the chain of three, measured here",
                      {{"task us", 1}, {"ns a task over that", 1}, {"overhead %", 2}}};
    for (const std::int64_t ns : {500, 1000, 2000, 4000, 8000, 16000, 32000}) {
        const auto time = static_cast<double>(ns);
        const double over_ns = overhead_ns(frame_ns(std::chrono::nanoseconds(ns), kFrames), time);
        table.rows.push_back({time / 1e3, over_ns, 100 * over_ns / time});
    }
    table.notes.emplace_back(
        "Published as a picture: acceptable from 4 us on, 3.5 % there by Table 1, negligible for longer "
        "tasks.");
    return {table};
}

}  // namespace tidemill::cli
