#include "tidemill/runtime/threads/thread_pool.hpp"

#include <atomic>
#include <string_view>

#include <doctest/doctest.h>

#include "tidemill/machine/platform_error.hpp"
#include "tidemill/runtime/dynamic/dynamic.hpp"
#include "tidemill/runtime/execute/pipeline.hpp"
#include "tidemill/runtime/testing/test_chain.hpp"
#include "tidemill/testing/few_threads.hpp"

using namespace tidemill;
using internal::test_schedule;

namespace {

std::vector<ThreadPool::Job> counting_jobs(std::size_t jobs, std::atomic<int>& count) {
    return std::vector<ThreadPool::Job>(jobs, [&count] { ++count; });
}

// Whether `act` is refused as it should be where there are no more threads.
bool is_refused(auto&& act) {
    try {
        act();
    } catch (const PlatformError& error) {
        return std::string_view(error.what()).find(" of 64 threads could be started: ") !=
               std::string_view::npos;
    }
    return false;
}

void build_wide_graph(Graph& graph) {
    auto& counter = graph.add<internal::TestCounter>();
    auto& wide = graph.add(task("wide", pure, in<std::uint64_t>("x"), out<std::uint64_t>("y"),
                                [](auto x, auto y) { y[0] = x[0]; }));
    graph.bind(counter.value, wide["x"]);
}

bool pipelines_refuse() {
    Graph graph;
    build_wide_graph(graph);
    Pipeline pipeline(graph, test_schedule({{1, 1}, {1, 63}}));
    const bool refused = is_refused([&] { pipeline.run({.frames = 100}); });
    pipeline.reschedule(test_schedule({{1, 1}, {1, 2}}));
    return refused && pipeline.run({.frames = 100}).delivered == 100;
}

bool dynamic_refuses() {
    Graph graph;
    build_wide_graph(graph);
    Dynamic wide(graph, {.workers = 64});
    const bool refused = is_refused([&] { wide.run({.frames = 100}); });
    return refused && is_refused([&] { wide.run({.frames = 100}); });
}

}  // namespace

TEST_CASE("a pool that gets too few threads says how many, begins no job, and does later ones") {
    const testing::FewThreads few;
    if (!few.holds()) {
        MESSAGE("skipped: nothing limits the address space here");
        return;
    }
    ThreadPool pool;
    std::atomic<int> done{0};
    CHECK(is_refused([&] { pool.run_all(counting_jobs(64, done), [] {}); }));
    CHECK(done == 0);
    pool.run_all(counting_jobs(2, done), [] {});
    CHECK(done == 2);
}

TEST_CASE("under a limit on processes, executors refuse what it forbids, and run with fewer threads") {
    constexpr int kRounds = 20;
    const std::optional<int> status = testing::status_under_limit(8, [] {
        bool as_wished = true;
        for (int i = 0; i < kRounds; ++i) as_wished = pipelines_refuse() && dynamic_refuses() && as_wished;
        return as_wished;
    });
    if (!status) {
        MESSAGE("skipped: only root can become a user with a limit of its own");
        return;
    }
    CHECK(*status == 0);
}
