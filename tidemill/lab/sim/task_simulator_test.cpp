#include "tidemill/lab/sim/task_simulator.hpp"

#include <algorithm>
#include <map>

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include "tidemill/lab/sim/stream_program.hpp"
#include "tidemill/scheduling/dynamic/policy_error.hpp"
#include "tidemill/scheduling/static/schedule_error.hpp"

namespace tidemill {

namespace {

StreamGraph pipeline(std::vector<StreamTaskType> types) {
    StreamGraph graph{"pipeline", std::move(types), {}};
    for (std::size_t i = 1; i < graph.types.size(); ++i) graph.edges.push_back({i - 1, i});
    return graph;
}

TaskMachine workers(std::size_t count) {
    return {.speeds = std::vector<double>(count, 1.0)};
}

// Task types in a row with rates that balance, some of which peek and have state.
StreamGraph random_stream() {
    StreamGraph graph{"random", {}, {}};
    const auto types = *rc::gen::inRange<std::size_t>(2, 5);
    for (std::size_t i = 0; i < types; ++i) {
        graph.types.push_back({std::to_string(i), *rc::gen::inRange(0, 5) * 1.0,
                               *rc::gen::inRange<std::uint64_t>(1, 4), *rc::gen::inRange(0, 2) == 1});
        if (i == 0) continue;
        StreamEdge edge{i - 1, i, graph.types[i].firings, graph.types[i - 1].firings};
        edge.peek = edge.pop + *rc::gen::inRange<std::uint64_t>(0, 4);
        edge.initial = edge.peek - edge.pop + *rc::gen::inRange<std::uint64_t>(0, 3);
        graph.edges.push_back(edge);
    }
    return graph;
}

}  // namespace

TEST_CASE("a task is read by as many tasks as name it, whatever the rates, peeks and initial items") {
    rc::check([] {
        constexpr std::uint64_t kIterations = 40;
        const auto program = stream_program(random_stream(), kIterations);
        std::map<std::uint64_t, std::uint32_t> readers;
        std::vector<std::uint32_t> named(program->tasks());
        ProgramTask task;
        for (std::uint64_t number = 0; number < program->tasks(); ++number) {
            program->next(task);
            if (task.iteration < kIterations / 2) readers[number] = task.readers;
            for (const Predecessor& before : task.predecessors) {
                RC_ASSERT(before.number < number);
                if (before.is_read) ++named[before.number];
            }
        }
        for (const auto& [number, expected] : readers) RC_ASSERT(named[number] == expected);
    });
}

TEST_CASE(
    "under every policy each task runs once, after those that it waits for, one at a time on a worker") {
    rc::check([] {
        const auto program = stream_program(random_stream(), 20);
        const auto names = policy::policies();
        const auto& name = names[*rc::gen::inRange<std::size_t>(0, names.size())].name;
        TaskMachine machine{.speeds = {1, 2, 0.5}};
        machine.create_us = *rc::gen::inRange(0, 2);
        machine.master_works = *rc::gen::inRange(0, 2) == 1;
        machine.task_us = 0.1;
        machine.noise = 0.3;
        const policy::Window window{.iterations = *rc::gen::inRange<std::uint64_t>(1, 25),
                                    .tasks = *rc::gen::inRange<std::uint64_t>(1, 100)};
        std::vector<double> ends(program->tasks(), -1);
        std::vector<double> begins(program->tasks(), -1);
        std::vector<double> free_from(3);
        simulate_tasks(*program, machine, {std::string(name), window}, [&](const RanTask& task) {
            RC_ASSERT(ends[task.number] == -1);
            RC_ASSERT(task.begin_us >= free_from[task.worker]);
            free_from[task.worker] = task.end_us;
            begins[task.number] = task.begin_us;
            ends[task.number] = task.end_us;
        });
        program->restart();
        ProgramTask task;
        for (std::uint64_t number = 0; number < program->tasks(); ++number) {
            program->next(task);
            RC_ASSERT(ends[number] >= 0);
            for (const Predecessor& before : task.predecessors) {
                RC_ASSERT(ends[before.number] <= begins[number]);
            }
        }
    });
}

TEST_CASE("one worker runs a stream in the order of creation, with one iteration in memory") {
    const auto program = stream_program(pipeline({{"a", 2}, {"b", 3}, {"c", 5}}), 10);
    const SimulatedTasks report = simulate_tasks(*program, workers(1), {"oldest", {.iterations = 1}});
    CHECK(report.makespan_us == 100);
    CHECK(report.work_us == 100);
    CHECK(report.utilisation == 1);
    CHECK(report.mean_latency_us == 10);
    CHECK(report.peak_bytes == 8);
    CHECK(report.peak_tasks == 3);
}

TEST_CASE("a window in bytes is never exceeded, and one that is too small is refused with what it takes") {
    const StreamGraph graph = pipeline({{"a", 1, 4}, {"b", 1, 2}, {"c", 4, 4}});
    StreamGraph balanced = graph;
    balanced.edges = {{0, 1, 1, 2, 5, 3}, {1, 2, 2, 1}};
    const std::uint64_t iteration_bytes = balanced.bytes();
    for (const std::uint64_t iterations : {2u, 3u, 7u}) {
        const auto program = stream_program(balanced, 200);
        const policy::Window window{.bytes = iterations * iteration_bytes};
        const SimulatedTasks report = simulate_tasks(*program, workers(8), {"lifo", window});
        CHECK(report.peak_bytes <= window.bytes);
        CHECK(report.peak_bytes > (iterations - 1) * iteration_bytes / 2);
    }
    const auto program = stream_program(balanced, 200);
    CHECK_THROWS_WITH_AS(simulate_tasks(*program, workers(8), {"oldest", {.bytes = iteration_bytes}}),
                         doctest::Contains("give a larger window"), ScheduleError);
}

TEST_CASE("a master that is slower than the workers bounds the rate, and its share tells so") {
    const auto program = stream_program(pipeline({{"a", 1}, {"b", 1}}), 500);
    TaskMachine machine = workers(4);
    machine.create_us = 2;
    machine.master_works = false;
    const SimulatedTasks report = simulate_tasks(*program, machine, {});
    CHECK(report.makespan_us == doctest::Approx(2000).epsilon(0.01));
    CHECK(report.master_share > 0.99);
}

TEST_CASE("a stateless task type keeps any number of workers busy, and fast ones do more") {
    const auto program = stream_program(pipeline({{"a", 10}}), 100000);
    CHECK(simulate_tasks(*program, workers(1024), {"oldest"}).utilisation > 0.99);
    TaskMachine machine{.speeds = {3, 1}};
    std::vector<int> tasks(2);
    simulate_tasks(*program, machine, {"oldest"}, [&](const RanTask& task) { ++tasks[task.worker]; });
    CHECK(tasks[0] == doctest::Approx(75000).epsilon(0.01));
}

TEST_CASE("a task type runs on the kinds of cores that it may, and the others go on without it") {
    const auto program = stream_program(pipeline({{"a", 1}, {"b", 2}, {"c", 1}}), 1000);
    const TaskMachine machine{.speeds = {1, 1, 1}, .kinds = {0, 1, 1}};
    std::map<std::pair<policy::TaskTypeId, policy::WorkerId>, int> tasks;
    const SimulatedTasks report = simulate_tasks(
        *program, machine, {.policy = "oldest", .type_kinds = {1 << 0, 1 << 1}}, [&](const RanTask& task) {
            ++tasks[{task.type, task.worker}];
        });
    CHECK(tasks[{0, 0}] == 1000);
    CHECK(tasks[{1, 0}] == 0);
    CHECK(tasks[{1, 1}] + tasks[{1, 2}] == 1000);
    CHECK(tasks[{2, 0}] > 0);
    CHECK(report.makespan_us < 1450);  // 1500 or more, if c ran on one kind only
    CHECK_THROWS_AS(simulate_tasks(*program, workers(2), {.type_kinds = {1 << 3}}), policy::PolicyError);
}

TEST_CASE(
    "the master pays for what each creation changes: nothing under oldest, all levels before under botlev") {
    std::vector<StreamTaskType> row;
    for (const char* name : {"a", "b", "c", "d"}) row.push_back({name, 1000});
    const auto program = stream_program(pipeline(row), 1);
    TaskMachine machine = workers(4);
    machine.create_us = 1;
    machine.change_us = 10;
    machine.master_works = false;
    const auto creating_us = [&](const char* policy) {
        const SimulatedTasks report = simulate_tasks(*program, machine, {.policy = policy});
        return report.master_share * report.makespan_us;
    };
    CHECK(creating_us("oldest") == doctest::Approx(4));
    // b changes a, then c changes b and a; nothing comes after d to pay for what it changes.
    CHECK(creating_us("botlev") == doctest::Approx(4 + 3 * 10));
}

TEST_CASE("the same seed gives the same run, and noise leaves the mean work as it is") {
    const auto program = stream_program(pipeline({{"a", 10}, {"b", 10}}), 10000);
    TaskMachine machine = workers(2);
    machine.noise = 0.2;
    const SimulatedTasks first = simulate_tasks(*program, machine, {});
    CHECK(simulate_tasks(*program, machine, {}).makespan_us == first.makespan_us);
    CHECK(first.makespan_us == doctest::Approx(100000).epsilon(0.02));
    machine.seed = 2;
    CHECK(simulate_tasks(*program, machine, {}).makespan_us != first.makespan_us);
}

TEST_CASE("streams that do not balance or need items made later are refused") {
    StreamGraph graph = pipeline({{"a", 1, 2}, {"b", 1, 3}});
    CHECK_THROWS_WITH_AS(stream_program(graph, 1),
                         doctest::Contains("a makes 2 items an iteration and b takes 3"), ScheduleError);
    graph = pipeline({{"a", 1}, {"b", 1}});
    graph.edges[0].peek = 2;
    CHECK_THROWS_WITH_AS(stream_program(graph, 1), doctest::Contains("b needs items"), ScheduleError);
    CHECK_THROWS_AS(simulate_tasks(*stream_program(pipeline({{"a", 1}}), 1), {.speeds = {}}, {}),
                    ScheduleError);
    CHECK_THROWS_AS(simulate_tasks(*stream_program(pipeline({{"a", 1}}), 1), workers(1), {"best"}),
                    policy::PolicyError);
}

}  // namespace tidemill
