#include "tidemill/runtime/observe/watchdog.hpp"

#include <string>

#include <doctest/doctest.h>

#include "tidemill/runtime/execute/pipeline.hpp"
#include "tidemill/runtime/graph/plan.hpp"
#include "tidemill/runtime/observe/testing/hanging_run.hpp"
#include "tidemill/runtime/testing/test_chain.hpp"

using namespace tidemill;
using namespace std::chrono_literals;

TEST_CASE("a standstill is told once, with what every thread is doing") {
    Graph graph;
    internal::build_test_chain(graph);
    const Structure structure = structure_of(graph);
    const Plan plan = compile(graph, structure, {{1, 1}, {3, 1}});
    Watchdog dog(graph, 1s, nullptr);
    ThreadObserver& first = dog.watch({plan, 0, 0});
    ThreadObserver& second = dog.watch({plan, 1, 0});
    const Watchdog::Clock::time_point start{};

    CHECK_FALSE(dog.look(start));
    first.calling(structure.order[0], 7);
    second.waiting(0, false);
    CHECK_FALSE(dog.look(start + 900ms));
    CHECK_FALSE(dog.look(start + 1800ms));
    CHECK(dog.look(start + 2s).value() ==
          "nothing has moved for 1.1 s:\n"
          "  stage 1, thread 1 (counter.next): in counter.next, frame 7\n"
          "  stage 2, thread 1 (twice.twice): waits for twice.x (from counter.value)\n");
    CHECK_FALSE(dog.look(start + 9s));
    first.waiting(0, true);
    CHECK_FALSE(dog.look(start + 10s));
    CHECK(
        dog.look(start + 11s)
            .value()
            .find("stage 1, thread 1 (counter.next): waits until thin.thin is done with an earlier frame") !=
        std::string::npos);
}

TEST_CASE("a task that hangs is named while the run is on, and the run can be ended then") {
    const auto [report, told] = internal::run_and_hang([](Graph& graph, const RunOptions& options) {
        return Pipeline(graph, internal::test_schedule({{1, 1}, {1, 1}})).run(options);
    });
    CHECK(report.frames > 0);
    CHECK(told.find("in stuck.stuck, frame 0") != std::string::npos);
    CHECK(told.find("waits until stuck.stuck is done with an earlier frame") != std::string::npos);
}
