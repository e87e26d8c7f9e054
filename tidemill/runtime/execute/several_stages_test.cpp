#include <algorithm>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include "tidemill/runtime/execute/pipeline.hpp"
#include "tidemill/runtime/testing/test_chain.hpp"
#include "tidemill/runtime/threads/run_error.hpp"
#include "tidemill/scheduling/static/schedule_error.hpp"

using namespace tidemill;
using namespace tidemill::internal;

namespace {

using Threads = std::set<std::thread::id>;

/// count -> twice, which emits each frame two times and skips every fifth -> work -> keep.
struct OwnedChain {
    OwnedChain() {
        auto& count = graph.add(task("count", out<std::uint64_t>("x"), [this](auto x) {
            count_by.insert(std::this_thread::get_id());
            x[0] = next++;
        }));
        auto& twice = graph.add(task("twice", may_skip, may_repeat, in<std::uint64_t>("x"),
                                     out<std::uint64_t>("y"), [this](auto x, auto y) {
                                         if (x[0] % 5 == 4) return Flow::skip;
                                         y[0] = 2 * x[0] + (is_second ? 1 : 0);
                                         is_second = !is_second;
                                         return is_second ? Flow::again : Flow::ok;
                                     }));
        auto& work =
            graph.add(task("work", in<std::uint64_t>("y"), out<std::uint64_t>("z"), [this](auto y, auto z) {
                work_by.insert(std::this_thread::get_id());
                if (y[0] == throws_at) throw std::runtime_error("no");
                z[0] = y[0] + 1;
            }));
        auto& keep = graph.add(task("keep", in<std::uint64_t>("z"), [this](auto z) {
            keep_by.insert(std::this_thread::get_id());
            kept.push_back(z[0]);
        }));
        graph.bind(count["x"], twice["x"]);
        graph.bind(twice["y"], work["y"]);
        graph.bind(work["z"], keep["z"]);
    }

    Graph graph;
    std::uint64_t next = 0;
    bool is_second = false;
    std::uint64_t throws_at = ~std::uint64_t{0};
    Threads count_by, work_by, keep_by;
    std::vector<std::uint64_t> kept;
};

/// Frames that this keeps.
std::vector<std::uint64_t> kept_of(std::uint64_t frames) {
    std::vector<std::uint64_t> all;
    for (std::uint64_t frame = 0; frame < frames; ++frame)
        for (std::uint64_t i = 0; i < 2 && frame % 5 != 4; ++i) all.push_back(2 * frame + i + 1);
    return all;
}

/// One stage a task; the threads of those with equal numbers above 0 are one.
Schedule owned(const std::vector<int>& owners, WaitMode waiting = WaitMode::passive) {
    Schedule schedule = test_schedule({{1, 1}, {1, 1}, {1, 1}, {1, 1}});
    for (std::size_t s = 0; s < owners.size(); ++s) {
        if (owners[s] > 0) schedule.stages[s].owners = {owners[s]};
        if (s + 1 < owners.size()) schedule.stages[s].waiting = waiting;
    }
    return schedule;
}

}  // namespace

TEST_CASE("several stages on one thread, neighbours or not: the same frames") {
    for (const WaitMode waiting : {WaitMode::passive, WaitMode::active}) {
        for (const std::vector<int>& owners : std::vector<std::vector<int>>{
                 {1, 0, 1, 0}, {0, 1, 0, 1}, {1, 1, 0, 0}, {1, 0, 0, 1}, {1, 2, 1, 2}, {1, 1, 1, 1}}) {
            for (const std::uint32_t batch : {1u, 3u}) {
                OwnedChain chain;
                Pipeline pipeline(chain.graph, owned(owners, waiting), {.frames = batch});
                const RunReport report = pipeline.run({.frames = 200});
                CHECK(chain.kept == kept_of(200));
                CHECK(report.delivered == 320);
                CHECK((chain.count_by == chain.work_by) == (owners[0] > 0 && owners[0] == owners[2]));
                CHECK((chain.count_by == chain.keep_by) == (owners[0] > 0 && owners[0] == owners[3]));
            }
        }
    }
}

TEST_CASE("several stages on one thread: what came before an error is delivered, and the run goes on") {
    for (const std::vector<int>& owners : std::vector<std::vector<int>>{{1, 0, 1, 0}, {1, 0, 0, 1}}) {
        OwnedChain chain;
        chain.throws_at = 2 * 18 + 1;
        Pipeline pipeline(chain.graph, owned(owners));
        CHECK_THROWS_AS(pipeline.run({.frames = 100}), FrameError);
        std::vector<std::uint64_t> before = kept_of(19);
        before.pop_back();
        CHECK(chain.kept == before);
    }
}

TEST_CASE("several stages on one thread: a run that is halted goes on where it was") {
    OwnedChain chain;
    Pipeline pipeline(chain.graph, owned({1, 0, 1, 0}));
    int asked = 0;
    pipeline.run({.stop_when = [&] { return ++asked > 40; }});
    const std::uint64_t before = chain.next;
    CHECK(chain.kept == kept_of(before));
    pipeline.reschedule(owned({1, 2, 0, 1}));
    pipeline.resume({.frames = 60});
    CHECK(chain.kept == kept_of(before + 60));
}

TEST_CASE("several stages on one thread have its core, its waits, and its work elsewhere") {
    const Topology topology = Topology::here();
    Schedule schedule = owned({1, 0, 1, 0});
    for (Stage& stage : schedule.stages) stage.core_kind = topology.kinds.front().name;
    schedule.stages[1].pinning = schedule.stages[3].pinning = Pinning::kLoose;
    OwnedChain chain;
    const RunReport report = Pipeline(chain.graph, schedule, {.topology = &topology}).run({.frames = 100});
    CHECK(report.stages[0].threads[0].cores == report.stages[2].threads[0].cores);
    CHECK(report.stages[1].threads[0].cores == "any");
    const auto& [first, third] = std::pair(report.stages[0].threads[0], report.stages[2].threads[0]);
    CHECK(first.pull_waits.count == third.pull_waits.count);
    CHECK(first.elsewhere_us == third.work_us);
    CHECK(third.elsewhere_us == first.work_us);
    CHECK(report.stages[1].threads[0].elsewhere_us == 0);
}

TEST_CASE("owners that cannot be are refused before a run") {
    OwnedChain chain;
    Schedule schedule = owned({1, 0, 1, 0});
    schedule.stages[2].pinning = Pinning::kLoose;
    CHECK_THROWS_AS(Pipeline(chain.graph, schedule), ScheduleError);
    schedule = owned({1, 0, 1, 0});
    schedule.stages[0].owners = {1, 1};
    CHECK_THROWS_AS(Pipeline(chain.graph, schedule), ScheduleError);
}
