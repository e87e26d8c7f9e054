#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include "tidemill/runtime/dynamic/dynamic.hpp"
#include "tidemill/runtime/execute/pipeline.hpp"
#include "tidemill/runtime/execute/sequence.hpp"
#include "tidemill/runtime/graph/graph_error.hpp"
#include "tidemill/runtime/testing/elsewhere.hpp"
#include "tidemill/runtime/testing/test_chain.hpp"
#include "tidemill/runtime/threads/run_error.hpp"

using namespace tidemill;
using internal::Elsewhere;
using internal::test_schedule;

namespace {

constexpr std::uint64_t kNever = ~std::uint64_t{0};

std::uint64_t squared(std::uint64_t number) {
    return number * number;
}

/// Has numbers squared elsewhere, up to three batches of up to four at a time. Throws where it begins or ends
/// a batch with some frame.
struct FarSquares : Module {
    explicit FarSquares(Elsewhere& where) : elsewhere(&where) {}

    In<std::uint64_t> x = in<std::uint64_t>("x");
    Out<std::uint64_t> y = out<std::uint64_t>("y");
    Task square = task_in_flight<&FarSquares::send, &FarSquares::is_back, &FarSquares::take>(
        "square", {.batch = 4, .in_flight = 3});
    Elsewhere* elsewhere;
    std::array<Elsewhere::Sent, 3> places{};
    std::vector<std::size_t> sizes{};
    std::atomic<std::size_t> begun = 0;
    int under_way = 0;
    std::uint64_t begin_throws_at = kNever;
    std::uint64_t end_throws_at = kNever;
    std::atomic<std::uint64_t>* made = nullptr;  // frames: the first batch waits for some of them

    void send(Batch batch, std::size_t place) {
        sizes.push_back(batch.size());
        std::vector<std::uint64_t>& numbers = places[place].numbers;
        numbers.clear();
        for (std::size_t i = 0; i < batch.size(); ++i) {
            if (batch[i].number() == begin_throws_at) throw std::runtime_error("not sent");
            numbers.push_back(batch[i][x][0]);
        }
        ++under_way;
        ++begun;
        elsewhere->send(places[place]);
    }
    bool is_back(std::size_t place) { return elsewhere->is_done(places[place]); }
    void take(Batch batch, std::size_t place) {
        --under_way;
        while (made && *made < 8) std::this_thread::yield();
        elsewhere->wait(places[place]);
        for (std::size_t i = 0; i < batch.size(); ++i) {
            if (batch[i].number() == end_throws_at) throw std::runtime_error("not done");
            batch[i][y][0] = places[place].numbers[i];
        }
    }
};

struct Kept {
    std::vector<std::uint64_t> numbers{};
    std::vector<std::uint64_t> values{};

    bool operator==(const Kept&) const = default;
};

struct KeepAll : Module {
    explicit KeepAll(Kept& all) : kept(&all) {}
    In<std::uint64_t> y = in<std::uint64_t>("y");
    Task take = task("take", &KeepAll::run);
    Kept* kept;
    void run(Frame f) {
        kept->numbers.push_back(f.number());
        kept->values.push_back(f[y][0]);
    }
};

/// Counts; every third number may end as a hole; squares far away; keeps.
struct FarChain {
    Elsewhere elsewhere;
    Graph graph{};
    Kept kept{};
    FarSquares* squares = nullptr;
    std::atomic<std::uint64_t> made{0};

    explicit FarChain(bool has_holes = false, unsigned seed = 1) : elsewhere(seed, squared) {
        auto& source = graph.add<internal::TestCounter>();
        auto& sieve = graph.add(task("sieve", pure, may_skip, in<std::uint64_t>("x"), out<std::uint64_t>("y"),
                                     [has_holes, this](auto x, auto y) {
                                         ++made;
                                         y[0] = x[0];
                                         return has_holes && x[0] % 3 == 1 ? Flow::skip : Flow::ok;
                                     }));
        squares = &graph.add<FarSquares>(elsewhere);
        auto& keep = graph.add<KeepAll>(kept);
        graph.bind(source.value, sieve["x"]);
        graph.bind(sieve["y"], squares->x);
        graph.bind(squares->y, keep.y);
    }
};

Schedule alone(int batch) {
    Schedule schedule = test_schedule({{2, 1}, {1, 1}, {1, 1}});
    if (batch > 1) schedule.stages[1].batch = batch;
    return schedule;
}

Kept in_order(bool has_holes, std::uint64_t frames) {
    FarChain chain(has_holes);
    Sequence(chain.graph).run({.frames = frames});
    return chain.kept;
}

}  // namespace

namespace {

/// A task that squares on another device, with its declaration.
struct SaidSquares : FarSquares {
    SaidSquares(Elsewhere& where, TaskOptions options)
        : FarSquares(where),
          again(
              task_in_flight<&FarSquares::send, &FarSquares::is_back, &FarSquares::take>("again", options)) {}
    Task again;
};

std::string refusal_of(TaskOptions options) {
    Elsewhere elsewhere(1, squared);
    try {
        const SaidSquares squares(elsewhere, options);
    } catch (const GraphError& error) {
        return error.what();
    }
    return {};
}

}  // namespace

TEST_CASE("batches in flight: a task whose threads would share its places is refused where it is declared") {
    CHECK(refusal_of({.replication = Replication::cloned, .batch = 4, .in_flight = 3}).empty());
    CHECK(refusal_of({.replication = Replication::pure, .batch = 4, .in_flight = 3}) ==
          "task 'again' of SaidSquares: it is pure, so threads would share the places in which its batches "
          "are under way; say cloned, or sequential");
    CHECK(refusal_of({.replication = Replication::pure, .batch = 1, .in_flight = 1}).find("it is pure") !=
          std::string::npos);
    CHECK(refusal_of({.batch = 0}) == "task 'again' of SaidSquares: batches of 0 frames; give 1 or more");
    CHECK(refusal_of({.in_flight = 0}) ==
          "task 'again' of SaidSquares: 0 batches under way at a time; give 1 or more");
}

TEST_CASE("batches in flight: frames are those of the sequence, in whatever order the batches are done") {
    for (const bool has_holes : {false, true}) {
        const Kept expected = in_order(has_holes, 50);
        CHECK(expected.values.size() == (has_holes ? 33 : 50));
        for (unsigned seed = 0; seed < 10; ++seed) {
            for (const int batch : {1, 3, 4, 9}) {
                for (const std::uint32_t frames : {1u, 2u, 6u}) {
                    for (const WaitMode waiting : {WaitMode::passive, WaitMode::active}) {
                        CAPTURE(batch);
                        CAPTURE(frames);
                        FarChain chain(has_holes, seed);
                        const RunReport report =
                            Pipeline(chain.graph, alone(batch),
                                     {.waiting = waiting, .frames = frames, .batch_wait_us = 50})
                                .run({.frames = 50});
                        CHECK(chain.kept == expected);
                        CHECK(report.delivered == expected.values.size());
                        CHECK(chain.squares->under_way == 0);
                    }
                }
            }
        }
    }
}

TEST_CASE("batches in flight: there are as many as the task takes, and one where it shares its stage") {
    FarChain chain;
    chain.elsewhere.begin_at(3);
    Pipeline(chain.graph, alone(4), {.batch_wait_us = 1e9}).run({.frames = 400});
    CHECK(chain.elsewhere.most() == 3);
    CHECK(chain.squares->sizes == std::vector<std::size_t>(100, 4));
    FarChain shared;
    Pipeline(shared.graph, test_schedule({{1, 1}, {3, 1}}), {}).run({.frames = 40});
    CHECK(shared.elsewhere.most() == 1);
    CHECK(shared.squares->sizes == std::vector<std::size_t>(40, 1));
}

TEST_CASE("batches in flight: tasks that a stage takes batches for have as many each, one behind the other") {
    Elsewhere first(1, squared), second(2, squared);
    Graph graph;
    Kept kept;
    auto& source = graph.add<internal::TestCounter>();
    auto& squares = graph.add<FarSquares>(first);
    auto& fourths = graph.add<FarSquares>(second);
    auto& keep = graph.add<KeepAll>(kept);
    graph.bind(source.value, squares.x);
    graph.bind(squares.y, fourths.x);
    graph.bind(fourths.y, keep.y);
    first.begin_at(3);
    second.begin_at(3);
    Schedule schedule = test_schedule({{1, 1}, {2, 1}, {1, 1}});
    schedule.stages[1].batch = 4;
    Pipeline(graph, schedule, {.batch_wait_us = 1e9}).run({.frames = 400});
    CHECK(first.most() == 3);
    CHECK(second.most() == 3);
    CHECK(squares.sizes == std::vector<std::size_t>(100, 4));
    CHECK(fourths.sizes == squares.sizes);
    REQUIRE(kept.values.size() == 400);
    CHECK(kept.values[7] == 7 * 7 * 7 * 7);
}

TEST_CASE("batches in flight: where one throws, all before it is delivered, and all under way comes home") {
    for (const bool at_begin : {true, false}) {
        for (std::uint64_t frame = 0; frame < 24; ++frame) {
            CAPTURE(frame);
            FarChain chain(false, static_cast<unsigned>(frame));
            (at_begin ? chain.squares->begin_throws_at : chain.squares->end_throws_at) = frame;
            Pipeline pipeline(chain.graph, alone(4), {.batch_wait_us = 1e9});
            const std::uint64_t first = frame / 4 * 4;
            try {
                pipeline.run({.frames = 100});
                FAIL("it goes on");
            } catch (const RunError& error) {
                CHECK(std::string(error.what()).find("frame " + std::to_string(first)) != std::string::npos);
            }
            CHECK(chain.kept.numbers.size() == first);
            CHECK(chain.squares->under_way == 0);
        }
    }
}

TEST_CASE("batches in flight: a change of stages in between loses and doubles nothing") {
    const Kept expected = in_order(false, 300);
    for (unsigned seed = 0; seed < 5; ++seed) {
        FarChain chain(false, seed);
        Pipeline pipeline(chain.graph, alone(4), {});
        const std::array schedules{alone(3), test_schedule({{4, 1}}), alone(2),
                                   test_schedule({{1, 1}, {3, 1}})};
        std::size_t changes = 0;
        pipeline.run({.frames = 300, .stop_when = [&] {
                          if (chain.squares->begun > 20 * (changes + 1) && changes < schedules.size())
                              pipeline.reschedule(schedules[changes++]);
                          return false;
                      }});
        CHECK(chain.kept == expected);
        CHECK(chain.squares->under_way == 0);
    }
}

TEST_CASE("batches in flight: what limits is told by times that count the frames of a batch, each once") {
    FarChain chain;
    const RunReport report = Pipeline(chain.graph, alone(4), {}).run({.frames = 10});
    const auto found = std::ranges::find_if(
        report.tasks, [](const TaskReport& task) { return task.name.find("square") != std::string::npos; });
    REQUIRE(found != report.tasks.end());
    CHECK(found->calls.count == 10);
}

TEST_CASE(
    "under a policy a worker takes the frames that are ready for a task that has batches done elsewhere") {
    for (const bool has_holes : {false, true}) {
        const Kept expected = in_order(has_holes, 200);
        FarChain chain(has_holes);
        chain.squares->made = &chain.made;
        DynamicOptions options{.workers = 3};
        options.kinds = {0, 0, 1};
        options.only = {{chain.squares->name(), 2}, {"sieve", 1}};
        options.bundle = {};
        const RunReport report = Dynamic(chain.graph, options).run({.frames = 200});
        CHECK(chain.kept == expected);
        CHECK(report.delivered == expected.values.size());
        CHECK(chain.squares->under_way == 0);
        CHECK(std::ranges::max(chain.squares->sizes) > 1);
        CHECK(std::ranges::max(chain.squares->sizes) <= 4);
        const auto found = std::ranges::find_if(report.tasks, [](const TaskReport& task) {
            return task.name.find("square") != std::string::npos;
        });
        CHECK(found->calls.count == expected.values.size());
    }
}

TEST_CASE("under a policy a batch that throws is told as its first frame, and all before it is delivered") {
    for (std::uint64_t frame = 0; frame < 12; ++frame) {
        CAPTURE(frame);
        FarChain chain;
        chain.squares->end_throws_at = frame;
        DynamicOptions options{.workers = 2};
        options.bundle = {};
        CHECK_THROWS_AS(Dynamic(chain.graph, options).run({.frames = 100}), RunError);
        CHECK(chain.kept.numbers.size() <= frame);
        CHECK(chain.kept.numbers.size() + 4 > frame);
        CHECK(chain.squares->under_way == 0);
    }
}
