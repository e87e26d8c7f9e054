#include <atomic>
#include <map>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include "tidemill/runtime/execute/pipeline.hpp"
#include "tidemill/runtime/execute/ring_depth.hpp"
#include "tidemill/runtime/testing/test_chain.hpp"
#include "tidemill/scheduling/static/schedule_error.hpp"

using namespace tidemill;
using namespace tidemill::internal;

namespace {

/// A stage of the word "b l b": the kinds are named so, and each has one thread.
Stage mixed_stage(std::size_t first, const std::vector<std::string>& kinds) {
    std::vector<std::string> letters;
    for (const std::string& kind : kinds) letters.push_back(kind + ":1");
    Stage stage{.first_task = first, .task_count = 1, .threads = 0, .core_kind = ""};
    stage.word = parse_word(letters);
    stage.threads = static_cast<int>(stage.word->kinds.size());
    return stage;
}

/// One stage a task: the middle one is mixed.
Schedule around(const Stage& mixed) {
    Schedule schedule = test_schedule({{1, 1}, {1, 1}, {1, 1}});
    schedule.stages[1] = mixed;
    return schedule;
}

/// count -> work, whose threads it notes -> keep.
struct NotedChain {
    NotedChain() {
        auto& count = graph.add(
            task("count", out<std::uint64_t>("x"), [n = std::uint64_t{0}](auto x) mutable { x[0] = n++; }));
        auto& work = graph.add(task("work", pure, in<std::uint64_t>("x"), out<std::uint64_t>("y"),
                                    out<std::thread::id>("who"), [](auto x, auto y, auto who) {
                                        y[0] = x[0];
                                        who[0] = std::this_thread::get_id();
                                    }));
        auto& keep = graph.add(
            task("keep", in<std::uint64_t>("y"), in<std::thread::id>("who"), [this](auto y, auto who) {
                in_order &= y[0] == threads.size();
                threads.push_back(who[0]);
            }));
        graph.bind(count["x"], work["x"]);
        graph.bind(work["y"], keep["y"]);
        graph.bind(work["who"], keep["who"]);
    }

    /// Threads numbered in the order in which they were seen.
    std::vector<std::size_t> numbers() const {
        std::map<std::thread::id, std::size_t> known;
        std::vector<std::size_t> seen;
        for (const std::thread::id& id : threads)
            seen.push_back(known.emplace(id, known.size()).first->second);
        return seen;
    }

    Graph graph;
    std::vector<std::thread::id> threads;
    bool in_order = true;
};

std::string refusal(const Schedule& schedule, const PipelineOptions& options = {}) {
    NotedChain chain;
    try {
        Pipeline(chain.graph, schedule, options);
    } catch (const Error& error) {
        return error.what();
    }
    return "accepted";
}

}  // namespace

TEST_CASE("mixed stages: each frame goes to the thread that the word names, whatever goes together") {
    const std::vector<std::string> kinds{"big", "big", "little", "big", "tiny"};
    const std::vector<std::size_t> letters{0, 0, 1, 0, 2};
    for (const std::uint32_t frames : {1u, 3u}) {
        NotedChain chain;
        const RunReport report =
            Pipeline(chain.graph, around(mixed_stage(1, kinds)), {.frames = frames}).run({.frames = 1000});
        CHECK(report.delivered == 1000);
        CHECK(chain.in_order);
        std::vector<std::size_t> expected;
        for (std::size_t frame = 0; frame < 1000; ++frame) expected.push_back(letters[frame / frames % 5]);
        CHECK(chain.numbers() == expected);
        CHECK(report.stages[1].threads.size() == 3);
    }
}

TEST_CASE("mixed stages: a ring has the tokens that its words need, and so has the latency") {
    const Stage mixed = mixed_stage(1, {"big", "little", "big", "big", "big", "big", "big", "big"});
    NotedChain chain;
    const RunReport report = Pipeline(chain.graph, around(mixed)).run({.frames = 100});
    CHECK(report.segments[0].tokens == 1 + 8 + 1 + 2);  // the little thread has each frame for a round
    CHECK(report.segments[0].held == 10);
    Profile profile;
    profile.kinds = {"big", "little"};
    profile.tasks = {{"a", false, {100, 100}}, {"b", true, {80, 800}}, {"c", false, {100, 100}}};
    CHECK(ring_depth_for(2600, around(mixed), profile).depth == 8);  // (2600 / 100 - 10) / 2
}

TEST_CASE("mixed stages: a stream that several threads begin by a word is halted without a gap") {
    std::atomic<std::uint64_t> seen{0};
    Graph graph;
    std::stop_source stop;
    auto& source = graph.add(task("zero", pure, out<std::uint64_t>("y"), [](auto y) { y[0] = 1; }));
    auto& sink = graph.add(task("sink", in<std::uint64_t>("x"), [&](auto) {
        if (++seen == 500) stop.request_stop();
    }));
    graph.bind(source["y"], sink["x"]);
    Schedule schedule = test_schedule({{1, 1}, {1, 1}});
    schedule.stages[0] = mixed_stage(0, {"big", "little", "big", "big"});
    Pipeline pipeline(graph, schedule);
    const RunReport first = pipeline.run({.stop = stop.get_token()});
    CHECK(first.frames == first.delivered);
    CHECK(first.delivered == seen);
    CHECK(pipeline.resume({.frames = 7}).delivered == 7);
}

TEST_CASE("mixed stages: the schedule may change into one and back while the stream runs") {
    NotedChain chain;
    const Schedule mixed = around(mixed_stage(1, {"big", "little", "big"}));
    const Schedule plain = test_schedule({{1, 1}, {1, 3}, {1, 1}});
    Pipeline pipeline(chain.graph, mixed);
    const std::jthread changes([&](const std::stop_token& over) {
        for (int i = 0; !over.stop_requested(); ++i) {
            pipeline.reschedule(i % 2 ? mixed : plain);
            std::this_thread::yield();
        }
    });
    CHECK(pipeline.run({.frames = 20000}).delivered == 20000);
    CHECK(chain.in_order);
}

TEST_CASE("mixed stages: each thread is pinned to a core of its own kind") {
    if (Topology::here().pus().size() < 2) return;
    const Topology topology = Topology::here("big=0,little=1");
    NotedChain chain;
    Schedule schedule = around(mixed_stage(1, {"big", "little", "big"}));
    for (const std::size_t s : {0u, 2u}) schedule.stages[s].pinning = Pinning::kLoose;
    const RunReport report = Pipeline(chain.graph, schedule, {.topology = &topology}).run({.frames = 100});
    const auto core_of = [&](std::size_t kind) {
        return to_string(PuSet{topology.cores[topology.kinds[kind].cores.front()].pus.front()});
    };
    CHECK(report.stages[1].threads[0].cores == core_of(0));
    CHECK(report.stages[1].threads[1].cores == core_of(1));
}

TEST_CASE("mixed stages: words and cores that do not fit are refused with what was expected") {
    Schedule schedule = around(mixed_stage(1, {"big", "little", "big"}));
    schedule.stages[1].threads = 3;
    CHECK(refusal(schedule) == "schedule: stage 2 has 3 threads, expected 2 (those of its word)");
    schedule.stages[1].threads = 2;
    schedule.stages[1].word->letters = {0, 2};
    CHECK(refusal(schedule).starts_with("schedule: the word of stage 2 has thread 3 before thread 2"));
    Schedule sequential = test_schedule({{1, 1}, {1, 1}, {1, 1}});
    sequential.stages[2] = mixed_stage(2, {"big", "little"});
    CHECK(refusal(sequential).find("keep.keep is sequential; give it one thread") != std::string::npos);
    const Topology one_kind = Topology::here("big=0");
    CHECK(refusal(around(mixed_stage(1, {"big", "little"})), {.topology = &one_kind}).find("little") !=
          std::string::npos);
}
