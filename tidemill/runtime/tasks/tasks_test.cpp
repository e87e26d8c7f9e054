#include "tidemill/runtime/tasks/tasks.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <latch>
#include <random>
#include <stdexcept>
#include <thread>

#include <doctest/doctest.h>

#include "tidemill/machine/affinity.hpp"
#include "tidemill/machine/platform_error.hpp"
#include "tidemill/scheduling/dynamic/policy.hpp"
#include "tidemill/scheduling/dynamic/policy_error.hpp"
#include "tidemill/testing/few_threads.hpp"

namespace tidemill {
namespace {

// A random program over some cells: what each step does to pieces of them, which may overlap, follows from
// those that it reads.
struct Piece {
    std::size_t first;
    std::size_t count;
};
struct Step {
    std::vector<Piece> reads;
    std::vector<Piece> updates;
    std::uint64_t seed;
};

using Cells = std::vector<std::uint64_t>;

Piece random_piece(std::mt19937_64& random, std::size_t cells) {
    const std::size_t first = random() % cells;
    return {first, random() % 4 ? 1 : random() % (cells - first + 1)};
}

std::vector<Step> random_steps(std::mt19937_64& random, std::size_t cells, std::size_t count) {
    std::vector<Step> steps(count);
    for (Step& step : steps) {
        for (std::uint64_t i = random() % 4; i > 0; --i) step.reads.push_back(random_piece(random, cells));
        for (std::uint64_t i = 1 + random() % 2; i > 0; --i)
            step.updates.push_back(random_piece(random, cells));
        step.seed = random();
    }
    return steps;
}

std::span<std::uint64_t> part(Cells& cells, const Piece& piece) {
    return std::span(cells).subspan(piece.first, piece.count);
}

void run_step(const Step& step, Cells& cells) {
    std::uint64_t value = step.seed;
    for (const Piece& piece : step.reads) {
        for (const std::uint64_t cell : part(cells, piece)) value = value * 0x9e3779b97f4a7c15ull + cell;
    }
    for (const Piece& piece : step.updates) {
        for (std::uint64_t& cell : part(cells, piece)) value ^= cell = cell * 31 + value;
    }
}

void spawn_step(Tasks& tasks, TaskType type, const Step& step, Cells& cells) {
    std::vector<Access> accesses;
    for (const Piece& piece : step.reads) accesses.push_back(reads(part(cells, piece)));
    for (const Piece& piece : step.updates) accesses.push_back(updates(part(cells, piece)));
    const auto priority = static_cast<std::int32_t>(step.seed % 7) - 3;
    tasks.spawn(
        type, accesses, [&step, &cells] { run_step(step, cells); }, priority);
}

// A task that runs until it is let go.
class HeldTask {
  public:
    HeldTask(Tasks& tasks, int& value) {
        tasks.spawn({updates(value)}, [this] {
            begun_.count_down();
            while (!go_on_) std::this_thread::yield();
        });
        begun_.wait();
    }
    void disable_backpressure() { go_on_ = true; }

  private:
    std::latch begun_{1};
    std::atomic<bool> go_on_{false};
};

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
        const std::array types{tasks.type("one"), tasks.type("other")};
        for (const Step& step : steps) spawn_step(tasks, types[step.seed % 2], step, actual);
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
        CHECK(error.type().starts_with("tasks_test.cpp:"));
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
    HeldTask held(tasks, value);
    for (int i = 0; i < 10; ++i) tasks.spawn({updates(value)}, [&] { ++value; });
    tasks.cancel();
    tasks.spawn({updates(value)}, [&] { ++value; });
    held.disable_backpressure();
    const TasksReport report = tasks.wait();
    CHECK(value == 0);
    CHECK(report.ran == 1);
    CHECK(report.dropped == 11);
}

TEST_CASE("a task that does not end is told by name while it runs") {
    Tasks tasks({.workers = 2, .program_helps = false});
    int value = 0;
    HeldTask held(tasks, value);
    const std::vector<RunningTask> running = tasks.running();
    REQUIRE(running.size() == 1);
    CHECK(running[0].type.starts_with("tasks_test.cpp:"));
    CHECK(running[0].number == 0);
    CHECK(tasks.running(std::chrono::hours(1)).empty());
    held.disable_backpressure();
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

TEST_CASE("tasks run on workers of the kinds that their task type is confined to, and nowhere else") {
    constexpr policy::KindSet kLittle = 2;
    std::atomic<int> elsewhere{0};
    for (const bool helps : {false, true}) {
        TasksOptions options{.workers = 3, .program_helps = helps, .kinds = {0, 1, 1}};
        options.observe = [&](const ObservedTask& task) {
            if (task.type == 0 && task.worker == 0) ++elsewhere;
        };
        Tasks tasks(options);
        const TaskType little = tasks.type("little", kLittle);
        const TaskType any = tasks.type("any");
        std::array<int, 8> cells{};
        for (int i = 0; i < 800; ++i) {
            int& cell = cells[static_cast<std::size_t>(i) % cells.size()];
            tasks.spawn(i % 2 ? little : any, std::array{updates(cell)}, [&cell] { ++cell; });
        }
        CHECK(tasks.wait().ran == 800);
        CHECK(cells == std::array<int, 8>{100, 100, 100, 100, 100, 100, 100, 100});
        CHECK_THROWS_WITH_AS(tasks.type("none", 4), doctest::Contains("no worker may run"), TasksError);
    }
    CHECK(elsewhere == 0);
}

TEST_CASE("workers stay on their cores, or the report says why not") {
    const std::vector<int> allowed = affinity_of_this_thread();
    const int pu = allowed.back();
    for (const bool helps : {false, true}) {
        {
            Tasks tasks({.workers = 1, .program_helps = helps, .cores = {{{pu, pu}}}});
            std::vector<int> inside;
            tasks.spawn({updates(inside)}, [&] { inside = affinity_of_this_thread(); });
            const TasksReport report = tasks.wait();
            CHECK((!report.not_pinned.empty() || inside == std::vector{pu}));
        }
        CHECK(affinity_of_this_thread() == allowed);
        Tasks tasks({.workers = 1, .program_helps = helps, .cores = {{{4095, 4095}}}});
        int value = 0;
        tasks.spawn({updates(value)}, [&] { ++value; });
        CHECK(tasks.wait().not_pinned.starts_with("worker 0: "));
    }
}

TEST_CASE("options that cannot be are refused") {
    CHECK_THROWS_AS(Tasks({.workers = 2, .cores = {{{0, 0}}}}), TasksError);
    CHECK_THROWS_AS(Tasks({.workers = 2, .kinds = {0}}), TasksError);
    CHECK_THROWS_AS(Tasks({.workers = 0}), policy::PolicyError);
    CHECK_THROWS_AS(Tasks({.policy = "best"}), policy::PolicyError);
    CHECK_THROWS_AS(Tasks({.window = {.tasks = 0}}), policy::PolicyError);
    CHECK_THROWS_AS(Tasks({.window = {.bytes = 1000}}), policy::PolicyError);
}

TEST_CASE("more workers than the system has threads are refused, and fewer do") {
    const std::optional<int> status = testing::status_under_limit(8, [] {
        try {
            Tasks({.workers = 64});
            return false;
        } catch (const PlatformError&) {
        }
        int value = 0;
        Tasks tasks({.workers = 2});
        tasks.spawn({updates(value)}, [&] { ++value; });
        return tasks.wait().ran == 1 && value == 1;
    });
    if (!status) {
        MESSAGE("skipped: only root can become a user with a limit of its own");
        return;
    }
    CHECK(*status == 0);
}

TEST_CASE("tasks: a worker gets more of what its kind of core is good at") {
    using Clock = std::chrono::steady_clock;
    const auto pass = [](std::chrono::microseconds time) {
        const Clock::time_point end = Clock::now() + time;
        while (Clock::now() < end) {
        }
    };
    const std::thread::id big = std::this_thread::get_id();  // it helps, as the first worker
    std::array<std::atomic<int>, 2> on_little{};
    Tasks tasks({.workers = 2, .window = {.tasks = 16}, .kinds = {0, 1}});
    const std::array types{tasks.type("hurt"), tasks.type("steady")};
    constexpr int kEach = 1000;
    for (int i = 0; i < kEach; ++i) {
        for (const int type : {0, 1}) {
            tasks.spawn(types[type], {}, [&, type] {
                const bool little = std::this_thread::get_id() != big;
                pass(std::chrono::microseconds(little && type == 0 ? 300 : 50));
                if (little) ++on_little[type];
            });
        }
    }
    CHECK(tasks.wait().ran == 2 * kEach);
    CHECK(on_little[0] < on_little[1]);
}

}  // namespace tidemill
