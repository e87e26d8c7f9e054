// Cost for the host of a frame's way to a stage that has batches done elsewhere, and from there on.
#include <array>
#include <cstdint>
#include <ctime>
#include <stdexcept>

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include "tidemill/runtime/execute/pipeline.hpp"
#include "tidemill/runtime/testing/test_chain.hpp"
#include "tidemill/testing/bench.hpp"

namespace tidemill {
namespace {

constexpr int kRounds = 9;
constexpr std::uint64_t kBatches = 2000;

const bool kAsked =
    bench::ask({"batches/hop",
                "What does a batch cost the thread of a stage that has it done elsewhere, beside what its "
                "task does: taking "
                "its frames from their tokens, waiting, and passing them on? The tokens hold a frame each.",
                "us a batch", "the same number of frames without batches"});

double thread_us() {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return 1e6 * static_cast<double>(now.tv_sec) + 1e-3 * static_cast<double>(now.tv_nsec);
}

struct Counter : Module {
    Out<std::uint64_t> x = out<std::uint64_t>("x");
    Task count = task("count", &Counter::run);
    void run(Frame f) { f[x][0] = f.number(); }
};

struct Sum : Module {
    In<std::uint64_t> x = in<std::uint64_t>("x");
    Task add = task("add", &Sum::run);
    std::uint64_t sum = 0;
    void run(Frame f) { sum += f[x][0]; }
};

/// A device that does nothing, at once; from its second batch to its last it counts what its thread works.
struct Nothing : Module {
    explicit Nothing(std::uint32_t batch)
        : frames(batch),
          far(task_in_flight<&Nothing::send, &Nothing::is_done, &Nothing::take>(
              "far", {.batch = batch, .in_flight = 4})) {}
    Forward<std::uint64_t> x = forward<std::uint64_t>("x");
    std::uint32_t frames;
    Task far;
    std::uint64_t ended = 0;
    std::uint64_t ended_frames = 0;
    double first_us = 0, last_us = 0;

    void send(Batch, std::size_t) {
        if (ended == 1 && first_us == 0) first_us = thread_us();
    }
    bool is_done(std::size_t) { return true; }
    void take(Batch batch, std::size_t) {
        ++ended;
        ended_frames += batch.size();
        if (ended_frames == kBatches * frames) last_us = thread_us();
    }
    double batch_us() const { return (last_us - first_us) / static_cast<double>(ended - 1); }
};

/// The same frame by frame.
struct OneByOne : Module {
    Forward<std::uint64_t> x = forward<std::uint64_t>("x");
    Task near = task("near", &OneByOne::run);
    std::uint64_t last = 0;
    double first_us = 0, last_us = 0;

    void run(Frame f) {
        if (f.number() == 0) first_us = thread_us();
        if (f.number() == last) last_us = thread_us();
    }
};

Schedule three_stages(int batch) {
    Schedule schedule = internal::test_schedule({{1, 1}, {1, 1}, {1, 1}});
    if (batch > 1) schedule.stages[1].batch = batch;
    return schedule;
}

void run(Graph& graph, Counter& counter, Module& between, Sum& sum, int batch, std::uint64_t frames) {
    graph.bind(counter.x, between["x"]);
    graph.bind(between["x"], sum.x);
    Pipeline(graph, three_stages(batch),
             {.ring_depth = 128, .waiting = WaitMode::mixed, .batch_wait_us = 1e6})
        .run({.frames = frames, .statistics = false});
    if (sum.sum != frames * (frames - 1) / 2) throw std::logic_error("frames are missing");
}

double batched_us(std::uint32_t batch) {
    Graph graph;
    auto& counter = graph.add<Counter>();
    auto& nothing = graph.add<Nothing>(batch);
    auto& sum = graph.add<Sum>();
    run(graph, counter, nothing, sum, static_cast<int>(batch), kBatches * batch);
    return nothing.batch_us();
}

double one_by_one_us(std::uint32_t batch) {
    const std::uint64_t frames = kBatches * batch;
    Graph graph;
    auto& counter = graph.add<Counter>();
    auto& near = graph.add<OneByOne>();
    auto& sum = graph.add<Sum>();
    near.last = frames - 1;
    run(graph, counter, near, sum, 1, frames);
    return (near.last_us - near.first_us) / static_cast<double>(kBatches);
}

void hop(benchmark::State& state) {
    const auto batch = static_cast<std::uint32_t>(state.range(0));
    bench::Ratio ratio;
    for (auto _ : state) {
        for (int round = 0; round < kRounds; ++round) ratio.add(batched_us(batch), one_by_one_us(batch));
    }
    ratio.report(state, {});
}

BENCHMARK(hop)->Name("batches/hop")->ArgName("of")->Arg(8)->Arg(16)->Arg(128)->Apply(bench::once);

}  // namespace
}  // namespace tidemill
