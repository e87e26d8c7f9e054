#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tidemill/runtime/graph/graph.hpp"
#include "tidemill/scheduling/static/schedule.hpp"

namespace tidemill::internal {

/// Numbers from 0 on, one per frame.
class TestCounter final : public Module {
  public:
    TestCounter() : Module("counter") {}
    Out<std::uint64_t> value = out<std::uint64_t>("value");
    Task next = task("next", &TestCounter::count);

  private:
    void count(Frame f) { f[value][0] = n_++; }
    std::uint64_t n_ = 0;
};

/// counter.next -> twice.twice -> thin.thin (passes every second frame, ends a segment) -> sink.sink
inline void build_test_chain(Graph& graph) {
    auto& counter = graph.add<TestCounter>();
    auto& twice = graph.add(task("twice", in<std::uint64_t>("x"), out<float>("y", 3), [](auto x, auto y) {
        for (std::size_t i = 0; i < 3; ++i) y[i] = static_cast<float>(2 * x[0] + i);
    }));
    auto& thin = graph.add(task("thin", may_skip, in<float>("x", 3), out<float>("y"), [](auto x, auto y) {
        y[0] = x[0];
        return static_cast<std::uint64_t>(x[0]) % 4 == 0 ? Flow::ok : Flow::skip;
    }));
    auto& sink = graph.add(task("sink", in<float>("x"), [](auto) {}));
    graph.bind(counter.value, twice["x"]);
    graph.bind(twice["y"], thin["x"]);
    graph.bind(thin["y"], sink["x"]);
}

/// Stages of these many tasks on these many threads.
inline Schedule test_schedule(const std::vector<std::pair<std::size_t, int>>& stages) {
    Schedule schedule;
    std::size_t first = 0;
    for (const auto& [tasks, threads] : stages) {
        Stage& stage = schedule.stages.emplace_back();
        stage.first_task = first;
        stage.task_count = tasks;
        stage.threads = threads;
        stage.core_kind = "big";
        first += tasks;
    }
    return schedule;
}

}  // namespace tidemill::internal
