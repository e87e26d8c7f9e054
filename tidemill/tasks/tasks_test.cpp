#include "tidemill/tasks/tasks.hpp"

#include <array>
#include <atomic>
#include <latch>
#include <random>
#include <stdexcept>
#include <thread>

#include <doctest/doctest.h>

#include "tidemill/policy/policy.hpp"
#include "tidemill/policy/policy_error.hpp"

namespace tidemill {
namespace {

// A random program over a few cells: what each step does to them follows from what it reads.
struct Step {
    std::vector<std::size_t> reads;
    std::vector<std::size_t> writes;
    std::uint64_t seed;
};

std::vector<Step> random_steps(std::mt19937_64& random, std::size_t cells, std::size_t count) {
    std::vector<Step> steps(count);
    for (Step& step : steps) {
        for (std::uint64_t i = random() % 4; i > 0; --i) step.reads.push_back(random() % cells);
        for (std::uint64_t i = 1 + random() % 2; i > 0; --i) step.writes.push_back(random() % cells);
        step.seed = random();
    }
    return steps;
}

using Cells = std::vector<std::uint64_t>;

void run_step(const Step& step, Cells& cells) {
    std::uint64_t value = step.seed;
    for (const std::size_t cell : step.reads) value = value * 0x9e3779b97f4a7c15ull + cells[cell];
    for (const std::size_t cell : step.writes) value ^= cells[cell] = cells[cell] * 31 + value;
}

void spawn_step(Tasks& tasks, const Step& step, Cells& cells) {
    const auto in = [&](std::size_t i) { return reads(cells[step.reads[i]]); };
    const auto body = [&step, &cells] { run_step(step, cells); };
    const Access first = updates(cells[step.writes.front()]);
    const Access last = updates(cells[step.writes.back()]);
    switch (step.reads.size()) {
        case 0:
            return tasks.spawn({first, last}, body);
        case 1:
            return tasks.spawn({in(0), first, last}, body, 3);
        case 2:
            return tasks.spawn({in(0), in(1), first, last}, body, -1);
        default:
            return tasks.spawn({in(0), in(1), in(2), first, last}, body);
    }
}

}  // namespace

TEST_CASE("random task programs leave memory as running the tasks in order does, under every policy") {
    std::mt19937_64 random(7);
    const auto policies = policy::policies();
    for (int program = 0; program < 60; ++program) {
        const std::size_t cells = 1 + random() % 12;
        const std::vector<Step> steps = random_steps(random, cells, random() % 400);
        Cells expected(cells, 1);
        for (const Step& step : steps) run_step(step, expected);
        TasksOptions options;
        options.workers = 1 + random() % 4;
        options.policy = policies[random() % policies.size()].name;
        options.window.tasks = 1 + random() % 64;
        options.program_helps = random() % 2;
        options.bundle = std::chrono::nanoseconds(random() % 2 ? 1000 : 0);
        CAPTURE(program);
        CAPTURE(options.policy);
        CAPTURE(options.workers);
        Cells actual(cells, 1);
        Tasks tasks(options);
        for (const Step& step : steps) spawn_step(tasks, step, actual);
        CHECK(tasks.wait().ran == steps.size());
        CHECK(actual == expected);
        CHECK(tasks.most_in_flight() <= options.window.tasks);
    }
}

TEST_CASE("of tasks that throw, the one that was spawned first is told, and later ones do not run") {
    Tasks tasks({.workers = 3});
    int value = 0;
    tasks.spawn({updates(value)}, [&] { value = 1; });
    tasks.spawn({updates(value)}, [] { throw std::runtime_error("as told"); });
    for (int i = 0; i < 100; ++i) tasks.spawn({updates(value)}, [&] { value = 2; });
    try {
        tasks.wait();
        FAIL("nothing was thrown");
    } catch (const TaskError& error) {
        CHECK(error.number() == 1);
        CHECK(error.kernel().starts_with("tasks_test.cpp:"));
        CHECK(std::string(error.what()).find("as told") != std::string::npos);
    }
    CHECK(value == 1);
    tasks.spawn({updates(value)}, [&] { value = 3; });
    CHECK(tasks.wait().ran == 1);
    CHECK(value == 3);
}

TEST_CASE("a cancelled program ends soon, and says how many tasks did not run") {
    Tasks tasks({.workers = 2, .program_helps = false});
    int value = 0;
    std::latch begun(1);
    std::atomic<bool> go_on{false};
    tasks.spawn({updates(value)}, [&] {
        begun.count_down();
        while (!go_on) std::this_thread::yield();
    });
    begun.wait();
    for (int i = 0; i < 10; ++i) tasks.spawn({updates(value)}, [&] { ++value; });
    tasks.cancel();
    tasks.spawn({updates(value)}, [&] { ++value; });
    go_on = true;
    const TasksReport report = tasks.wait();
    CHECK(value == 0);
    CHECK(report.ran == 1);
    CHECK(report.dropped == 11);
}

TEST_CASE("a task that does not end is told by name while it runs") {
    Tasks tasks({.workers = 2, .program_helps = false});
    int value = 0;
    std::latch begun(1);
    std::atomic<bool> go_on{false};
    tasks.spawn({updates(value)}, [&] {
        begun.count_down();
        while (!go_on) std::this_thread::yield();
    });
    begun.wait();
    const std::vector<RunningTask> running = tasks.running();
    REQUIRE(running.size() == 1);
    CHECK(running[0].kernel.starts_with("tasks_test.cpp:"));
    CHECK(running[0].number == 0);
    CHECK(tasks.running(std::chrono::hours(1)).empty());
    go_on = true;
    tasks.wait();
    CHECK(tasks.running().empty());
}

TEST_CASE("a task that spawns is refused, whoever runs it") {
    for (const bool helps : {false, true}) {
        Tasks tasks({.workers = helps ? 1u : 2u, .program_helps = helps});
        int value = 0;
        tasks.spawn({updates(value)}, [&] { tasks.spawn({updates(value)}, [] {}); });
        CHECK_THROWS_WITH_AS(tasks.wait(), doctest::Contains("a task spawns"), TaskError);
    }
}

TEST_CASE("a window in iterations holds the program back until older ones are done") {
    Tasks tasks({.workers = 2, .window = {.iterations = 2}});
    std::array<int, 8> cells{};
    for (int iteration = 0; iteration < 50; ++iteration) {
        for (int& cell : cells) tasks.spawn({updates(cell)}, [&cell] { ++cell; });
        tasks.next_iteration();
    }
    tasks.wait();
    CHECK(cells == std::array<int, 8>{50, 50, 50, 50, 50, 50, 50, 50});
    CHECK(tasks.most_in_flight() <= 3 * cells.size());
}

TEST_CASE("memory that overlaps what tasks in flight use is refused, and free again when they are done") {
    Tasks tasks({.workers = 1});
    std::array<int, 4> cells{};
    tasks.spawn({updates(cells)}, [] {});
    CHECK_THROWS_AS(tasks.spawn({updates(cells[1])}, [] {}), std::invalid_argument);
    tasks.wait();
    tasks.spawn({updates(cells[1])}, [] {});
    CHECK(tasks.wait().ran == 1);
}

TEST_CASE("a large function is kept, too, and every function is destroyed once") {
    const auto held = std::make_shared<int>(0);
    {
        Tasks tasks({.workers = 2});
        std::array<char, 200> large{};
        for (int i = 0; i < 20; ++i) tasks.spawn({updates(*held)}, [held, large] { *held += 1 + large[7]; });
        tasks.spawn({updates(*held)}, [held] { ++*held; });
    }
    CHECK(*held == 21);
    CHECK(held.use_count() == 1);
}

TEST_CASE("options that cannot be are refused") {
    CHECK_THROWS_AS(Tasks({.workers = 0}), policy::PolicyError);
    CHECK_THROWS_AS(Tasks({.policy = "best"}), policy::PolicyError);
    CHECK_THROWS_AS(Tasks({.window = {.tasks = 0}}), policy::PolicyError);
    CHECK_THROWS_AS(Tasks({.window = {.bytes = 1000}}), policy::PolicyError);
}

}  // namespace tidemill
