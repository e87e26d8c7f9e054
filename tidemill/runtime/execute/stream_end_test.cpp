#include <atomic>
#include <mutex>
#include <set>

#include <doctest/doctest.h>

#include "tidemill/runtime/execute/pipeline.hpp"

using namespace tidemill;

namespace {

Schedule two_stages(int threads) {
    Schedule schedule;
    for (std::size_t s = 0; s < 2; ++s) {
        Stage& stage = schedule.stages.emplace_back();
        stage.first_task = s;
        stage.task_count = 1;
        stage.threads = threads;
        stage.core_kind = "big";
    }
    return schedule;
}

class Numbers : public Module {
  public:
    Out<std::uint64_t> value = out<std::uint64_t>("value");
    Task next = task("next", &Numbers::number, pure);

  private:
    void number(Frame f) const { f[value][0] = f.number(); }
};

}  // namespace

TEST_CASE(
    "a stop ends the stream behind the last frame begun, though one replica runs far ahead of another") {
    constexpr std::uint64_t kFarAhead = 41;
    std::mutex mutex;
    std::set<std::uint64_t> seen;
    std::atomic<bool> far_ahead{false};
    std::stop_source stop;
    Graph graph;
    auto& numbers = graph.add<Numbers>();
    auto& sink = graph.add(task("sink", pure, in<std::uint64_t>("x"), [&](auto x) {
        if (x[0] == 0) far_ahead.wait(false);
        if (x[0] == kFarAhead) {
            stop.request_stop();
            far_ahead = true;
            far_ahead.notify_all();
        }
        const std::lock_guard lock(mutex);
        seen.insert(x[0]);
    }));
    graph.bind(numbers.value, sink["x"]);
    // Six tokens for two replicas in each stage: even and odd frames share neither threads nor tokens.
    const RunReport report =
        Pipeline(graph, two_stages(2), {.ring_depth = 2}).run({.stop = stop.get_token()});
    CHECK(report.segments[0].tokens == 6);
    CHECK(seen.size() > kFarAhead);
    CHECK(*seen.rbegin() + 1 == seen.size());  // no frame before the end is missing
    CHECK(report.frames == seen.size());
    CHECK(report.delivered == seen.size());
}

TEST_CASE("a failure that lies behind a stop is none: the sequence would not have met it") {
    std::atomic<bool> failed{false};
    std::uint64_t delivered = 0;
    Graph graph;
    auto& numbers = graph.add(task("numbers", out<std::uint64_t>("y"), [&, n = 0u](auto y) mutable {
        y[0] = n;
        if (n++ < 3) return;
        failed = true;
        failed.notify_all();
        throw std::runtime_error("read too far");
    }));
    auto& sink = graph.add(task("sink", in<std::uint64_t>("x"), [&](auto x) {
        failed.wait(false);
        if (x[0] == 2) return Flow::stop;
        ++delivered;
        return Flow::ok;
    }));
    graph.bind(numbers["y"], sink["x"]);
    CHECK_NOTHROW(Pipeline(graph, two_stages(1), {.ring_depth = 4}).run());
    CHECK(delivered == 2);
}
