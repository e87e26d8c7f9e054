#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tidemill/runtime/dynamic/dynamic.hpp"
#include "tidemill/runtime/execute/pipeline.hpp"
#include "tidemill/runtime/execute/sequence.hpp"
#include "tidemill/runtime/testing/test_chain.hpp"
#include "tidemill/runtime/threads/run_error.hpp"
#include "tidemill/runtime/threads/token_memory.hpp"

using namespace tidemill;
using internal::test_schedule;

namespace {

/// Squares up to four numbers a call, and remembers how many frames it was called with. Throws at one.
struct Squares : Module {
    In<std::uint64_t> x = in<std::uint64_t>("x");
    Out<std::uint64_t> y = out<std::uint64_t>("y");
    Task square = task("square", &Squares::run, in_batches_of<4>);
    std::vector<std::size_t> sizes{};
    std::uint64_t throws_at = ~std::uint64_t{0};

    void run(Batch batch) {
        sizes.push_back(batch.size());
        for (std::size_t i = 0; i < batch.size(); ++i) {
            if (batch[i].number() == throws_at) throw std::runtime_error("no square");
            batch[i][y][0] = batch[i][x][0] * batch[i][x][0];
        }
    }
};

struct Kept {
    std::vector<std::uint64_t> numbers{};
    std::vector<std::uint64_t> values{};

    bool operator==(const Kept&) const = default;
};

struct Keep : Module {
    explicit Keep(Kept& all) : kept(&all) {}
    In<std::uint64_t> y = in<std::uint64_t>("y");
    Task take = task("take", &Keep::run);
    Kept* kept;
    void run(Frame f) {
        kept->numbers.push_back(f.number());
        kept->values.push_back(f[y][0]);
    }
};

/// Counts; every third number may end as a hole; squares; keeps.
struct SquaresChain {
    Graph graph{};
    Kept kept{};
    Squares* squares = nullptr;

    explicit SquaresChain(bool has_holes = false) {
        auto& source = graph.add<internal::TestCounter>();
        auto& sieve = graph.add(task("sieve", pure, may_skip, in<std::uint64_t>("x"), out<std::uint64_t>("y"),
                                     [has_holes](auto x, auto y) {
                                         y[0] = x[0];
                                         return has_holes && x[0] % 3 == 1 ? Flow::skip : Flow::ok;
                                     }));
        squares = &graph.add<Squares>();
        auto& keep = graph.add<Keep>(kept);
        graph.bind(source.value, sieve["x"]);
        graph.bind(sieve["y"], squares->x);
        graph.bind(squares->y, keep.y);
    }
};

/// Keeps what comes back, and gives it again, full of what was left there.
struct KeptMemory : TokenMemory {
    std::byte* take(std::size_t frames, std::size_t frame_bytes) override {
        const std::size_t bytes = frames * frame_bytes;
        ++lent;
        if (blocks.empty() || blocks.back().bytes() < bytes) blocks.emplace_back(bytes);
        std::memset(blocks.back().data(), 0xee, blocks.back().bytes());
        return blocks.back().data();
    }
    void give_back(std::byte*) override { --lent; }

    std::vector<Arena> blocks{};
    int lent = 0;
};

// The batched task has a stage to itself.
const Schedule kAlone = test_schedule({{2, 1}, {1, 1}, {1, 1}});

Kept in_order(bool has_holes, std::uint64_t frames) {
    SquaresChain chain(has_holes);
    Sequence(chain.graph).run({.frames = frames});
    return chain.kept;
}

}  // namespace

TEST_CASE("a batched task makes the frames of the sequence, whatever the batch and with holes") {
    for (const bool has_holes : {false, true}) {
        const Kept expected = in_order(has_holes, 50);
        CHECK(expected.values.size() == (has_holes ? 33 : 50));
        for (const std::uint32_t batch : {1u, 2u, 3u, 4u, 7u, 64u}) {
            CAPTURE(batch);
            SquaresChain chain(has_holes);
            const RunReport report = Pipeline(chain.graph, kAlone, {.frames = batch}).run({.frames = 50});
            CHECK(chain.kept == expected);
            CHECK(report.delivered == expected.values.size());
        }
    }
}

TEST_CASE("frames of a batch have bytes of their own, also what nobody reads behind the task") {
    struct Writes : Module {
        Out<std::uint64_t> y = out<std::uint64_t>("y");
        In<std::uint64_t> x = in<std::uint64_t>("x");
        Task write = task("write", &Writes::run, in_batches_of<4>);
        std::uint64_t wrong = 0;

        void run(Batch batch) {
            for (std::size_t i = 0; i < batch.size(); ++i) batch[i][y][0] = batch[i][x][0];
            for (std::size_t i = 0; i < batch.size(); ++i) wrong += batch[i][y][0] != batch[i][x][0];
        }
    };
    Graph graph;
    auto& source = graph.add<internal::TestCounter>();
    auto& writes = graph.add<Writes>();
    graph.bind(source.value, writes.x);
    Pipeline(graph, test_schedule({{1, 1}, {1, 1}}), {.frames = 8}).run({.frames = 40});
    CHECK(writes.wrong == 0);
}

TEST_CASE("alone in its stage a batched task gets the frames of a token, as many as it takes") {
    const auto sizes = [](std::uint32_t batch, bool has_holes) {
        SquaresChain chain(has_holes);
        Pipeline(chain.graph, kAlone, {.frames = batch}).run({.frames = 12});
        return chain.squares->sizes;
    };
    CHECK(sizes(1, false) == std::vector<std::size_t>(12, 1));
    CHECK(sizes(3, false) == std::vector<std::size_t>(4, 3));
    CHECK(sizes(6, false) == std::vector<std::size_t>{4, 2, 4, 2});
    CHECK(sizes(5, false) == std::vector<std::size_t>{4, 1, 4, 1, 2});
    CHECK(sizes(6, true) == std::vector<std::size_t>{3, 1, 3, 1});  // two of each six are holes
}

TEST_CASE("beside others in a stage, in order and under a policy a batched task gets one frame at a time") {
    SquaresChain in_stage, in_sequence, dynamic;
    Pipeline(in_stage.graph, test_schedule({{1, 1}, {3, 1}}), {.frames = 4}).run({.frames = 12});
    Sequence(in_sequence.graph).run({.frames = 12});
    Dynamic(dynamic.graph, {.workers = 2}).run({.frames = 12});
    for (const SquaresChain* chain : {&in_stage, &in_sequence, &dynamic}) {
        CHECK(chain->squares->sizes == std::vector<std::size_t>(12, 1));
        CHECK(chain->kept.values.back() == 121);
    }
}

TEST_CASE(
    "when a batched task throws, the frames before its batch are delivered, and its first one is told") {
    for (const std::uint32_t batch : {1u, 4u, 8u}) {
        CAPTURE(batch);
        SquaresChain chain;
        chain.squares->throws_at = 9;
        const std::uint64_t first = batch == 1 ? 9 : 8;
        Pipeline pipeline(chain.graph, kAlone, {.frames = batch});
        try {
            pipeline.run({.frames = 40});
            FAIL("it goes on");
        } catch (const RunError& error) {
            CHECK(std::string(error.what()).find("frame " + std::to_string(first)) != std::string::npos);
        }
        CHECK(chain.kept.numbers.size() == first);
    }
}

TEST_CASE(
    "a stage with a batch of its own gets frames of several tokens, the last ones as many as there are") {
    const auto sizes = [](int batch, std::uint32_t frames, bool has_holes) {
        SquaresChain chain(has_holes);
        Schedule schedule = kAlone;
        schedule.stages[1].batch = batch;
        constexpr double kForEver = 1e9;
        const Kept expected = in_order(has_holes, 22);
        const RunReport report =
            Pipeline(chain.graph, schedule, {.frames = frames, .batch_wait_us = kForEver})
                .run({.frames = 22});
        CHECK(chain.kept == expected);
        CHECK(report.delivered == expected.values.size());
        return chain.squares->sizes;
    };
    CHECK(sizes(4, 1, false) == std::vector<std::size_t>{4, 4, 4, 4, 4, 2});
    CHECK(sizes(3, 1, false) == std::vector<std::size_t>{3, 3, 3, 3, 3, 3, 3, 1});
    CHECK(sizes(4, 2, false) == std::vector<std::size_t>{4, 4, 4, 4, 4, 2});
    CHECK(sizes(4, 3, false) == std::vector<std::size_t>{4, 2, 4, 2, 4, 2, 4});  // of two tokens at a time
    CHECK(sizes(3, 1, true) == std::vector<std::size_t>{2, 2, 2, 2, 2, 2, 2, 1});
}

TEST_CASE(
    "tokens that a stage with a batch of its own takes lie where they are told to, zeroed, and others do "
    "not") {
    const Kept expected = in_order(false, 40);
    const auto memory = std::make_shared<KeptMemory>();
    Schedule gathering = kAlone;
    gathering.stages[1].batch = 4;
    {
        SquaresChain plain;
        Pipeline(plain.graph, kAlone, {.memory = memory}).run({.frames = 40});
        CHECK(memory->blocks.empty());
        SquaresChain chain;
        Pipeline pipeline(chain.graph, gathering, {.memory = memory});
        pipeline.run({.frames = 20});
        CHECK(memory->blocks.size() == 1);
        pipeline.reschedule(kAlone);
        pipeline.reschedule(gathering);
        pipeline.resume({.frames = 20});
        CHECK(chain.kept == expected);
        CHECK(memory->blocks.size() == 1);
    }
    CHECK(memory->lent == 0);
}

TEST_CASE("a schedule that wants larger batches than a task takes gets those, and tokens for no more") {
    const auto tokens = [](int batch) {
        SquaresChain chain;
        Schedule schedule = kAlone;
        schedule.stages[1].batch = batch;
        const RunReport report = Pipeline(chain.graph, schedule, {.batch_wait_us = 1e9}).run({.frames = 22});
        CHECK(chain.kept == in_order(false, 22));
        CHECK(chain.squares->sizes == std::vector<std::size_t>{4, 4, 4, 4, 4, 2});
        return report.segments.front().tokens;
    };
    CHECK(tokens(1'000'000) == tokens(4));
}

TEST_CASE("a stage with a batch of its own waits for it no longer than it may") {
    const Kept expected = in_order(false, 500);
    for (const double wait_us : {0.0, 1.0, 100.0}) {
        CAPTURE(wait_us);
        SquaresChain chain;
        Schedule schedule = kAlone;
        schedule.stages[1].batch = 4;
        Pipeline(chain.graph, schedule, {.batch_wait_us = wait_us}).run({.frames = 500});
        CHECK(chain.kept == expected);
    }
}

TEST_CASE("when a task throws in a batch of several tokens, the frames before the batch are delivered") {
    SquaresChain chain;
    chain.squares->throws_at = 9;
    Schedule schedule = kAlone;
    schedule.stages[1].batch = 4;
    Pipeline pipeline(chain.graph, schedule, {.batch_wait_us = 1e9});
    CHECK_THROWS_AS(pipeline.run({.frames = 40}), RunError);
    CHECK(chain.kept.numbers.size() == 8);
}

TEST_CASE("times and observers count the frames of a batch, each with its share") {
    SquaresChain chain;
    const RunReport report = Pipeline(chain.graph, kAlone, {.frames = 4}).run({.frames = 10});
    const auto found = std::ranges::find_if(
        report.tasks, [](const TaskReport& task) { return task.name.find("square") != std::string::npos; });
    REQUIRE(found != report.tasks.end());
    CHECK(found->calls.count == 10);
}
