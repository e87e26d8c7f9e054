#include "tidemill/tuning/profile/busy_log.hpp"

#include <chrono>
#include <memory>
#include <thread>

#include <doctest/doctest.h>

#include "tidemill/runtime/dynamic/dynamic.hpp"
#include "tidemill/runtime/execute/pipeline.hpp"
#include "tidemill/runtime/execute/sequence.hpp"

namespace tidemill {
namespace {

constexpr int kFrames = 20;

/// Keeps its core for so long, however often others are given it meanwhile.
void work_us(int time_us) {
    const std::int64_t end_ns = thread_run_ns() + 1000 * time_us;
    while (thread_run_ns() < end_ns) {
    }
}

void wait() {
    std::this_thread::sleep_for(std::chrono::microseconds(20));
}

/// A source, tasks that work for 300 and for 100 us, and one that waits.
struct Works {
    explicit Works(bool source_waits) {
        auto& source = graph.add(task("source", out<int>("x"), [n = 0, source_waits](auto) mutable {
            if (source_waits) wait();
            return n++ == kFrames ? Flow::stop : Flow::ok;
        }));
        auto& much = graph.add(task("much", sequential, forward<int>("x"), [](auto) { work_us(300); }));
        auto& little = graph.add(task("little", sequential, forward<int>("x"), [](auto) { work_us(100); }));
        auto& last = graph.add(task("last", in<int>("x"), [](auto) { wait(); }));
        graph.bind(source["x"], much["x"]);
        graph.bind(much["x"], little["x"]);
        graph.bind(little["x"], last["x"]);
    }

    Graph graph;
};

/// Time that a run of it was seen to take.
template <class MakeExecutor>
std::unique_ptr<BusyLog> seen_under(MakeExecutor make, bool source_waits = false) {
    Works works(source_waits);
    auto log = std::make_unique<BusyLog>(works.graph);
    make(works.graph).run({.observers = {log.get()}});
    return log;
}

Sequence in_order(Graph& graph) {
    return Sequence(graph);
}

}  // namespace

TEST_CASE("busy log: one thread takes what all tasks work") {
    CHECK(seen_under(in_order)->busiest_us() >= kFrames * 400);
}

TEST_CASE("busy log: of several threads the busiest counts, and waits do not") {
    const auto log = seen_under([](Graph& graph) {
        return Pipeline(graph, {.stages = {{0, 2, 1, "big"}, {2, 2, 1, "big"}}},
                        {.waiting = WaitMode::active});
    });
    CHECK(log->busiest_us() >= kFrames * 300);
    CHECK(log->busiest_us() < kFrames * 390);
}

TEST_CASE("busy log: a thread that owns several stages takes what all of them do") {
    Schedule schedule{.stages = {{0, 2, 1, "big"}, {2, 1, 1, "big"}, {3, 1, 1, "big"}}};
    schedule.stages[0].owners = schedule.stages[1].owners = {1};
    const auto log = seen_under([&](Graph& graph) { return Pipeline(graph, schedule); });
    CHECK(log->busiest_us() >= kFrames * 400);
}

TEST_CASE("busy log: each dynamic worker is a thread, and the busiest has at least its share") {
    const auto log = seen_under([](Graph& graph) { return Dynamic(graph, {.workers = 2}); });
    CHECK(log->busiest_us() >= kFrames * 200);
}

TEST_CASE("busy log: a source that waits is told from tasks that do, and from one that does not") {
    CHECK(seen_under(in_order)->sources_waited_us() == 0);
    CHECK(seen_under(in_order, true)->sources_waited_us() > 0);
    CHECK(seen_under([](Graph& graph) { return Dynamic(graph, {.workers = 2}); }, true)->sources_waited_us() >
          0);
}

}  // namespace tidemill
