#include <set>
#include <vector>

#include <doctest/doctest.h>

#include "tidemill/runtime/execute/pipeline.hpp"
#include "tidemill/runtime/graph/arena.hpp"

using namespace tidemill;

namespace {

constexpr std::size_t kWords = 100;                        // of each socket
constexpr std::size_t kSocketBytes = aligned(8 * kWords);  // as it lies in a token

/// Adds one to each word, and remembers where its sockets lay.
class Trace : public Module {
  public:
    explicit Trace(bool source) {
        if (!source) x.push_back(in<std::uint64_t>("x", kWords));
        y.push_back(out<std::uint64_t>("y", kWords));
        task("run", &Trace::run);
    }
    std::vector<In<std::uint64_t>> x{};
    std::vector<Out<std::uint64_t>> y{};
    std::set<const void*> inputs{};
    std::set<const void*> outputs{};

  private:
    void run(Frame f) {
        for (std::size_t i = 0; i < kWords; ++i) f[y[0]][i] = x.empty() ? i : f[x[0]][i] + 1;
        if (!x.empty()) inputs.insert(f[x[0]].data());
        outputs.insert(f[y[0]].data());
    }
};

/// A chain of traced tasks, the last of which nobody reads.
struct TracedChain {
    explicit TracedChain(std::size_t tasks) {
        for (std::size_t i = 0; i < tasks; ++i) {
            traces.push_back(&graph.add<Trace>(i == 0));
            if (i > 0) graph.bind(traces[i - 1]->y[0], traces[i]->x[0]);
        }
    }

    RunReport run(const std::vector<std::size_t>& stage_sizes, int ring) {
        Schedule schedule;
        std::size_t first = 0;
        for (const std::size_t size : stage_sizes) {
            Stage& stage = schedule.stages.emplace_back();
            stage.first_task = first;
            stage.task_count = size;
            stage.core_kind = "big";
            first += size;
            if (first < traces.size()) stage.sync_buff_size = ring;
        }
        return Pipeline(graph, schedule).run({.frames = 200});
    }

    Graph graph;
    std::vector<Trace*> traces;
};

}  // namespace

TEST_CASE("a pipeline's memory is tokens times live bytes, and the report says exactly that") {
    for (const int ring : {1, 2, 5}) {
        TracedChain chain(6);
        const RunReport report = chain.run({2, 2, 2}, ring);
        const std::size_t tokens = 3 + 2 * static_cast<std::size_t>(ring);
        REQUIRE(report.segments.size() == 1);
        CHECK(report.segments[0].tokens == tokens);
        // Two sockets cross a border; the first is dead when the second is written, so they share their
        // bytes.
        CHECK(chain.traces[2]->inputs.size() == tokens);
        CHECK(chain.traces[4]->inputs.size() == tokens);
        std::set<const void*> places = chain.traces[2]->inputs;
        places.insert(chain.traces[4]->inputs.begin(), chain.traces[4]->inputs.end());
        CHECK(report.segments[0].bytes == places.size() * kSocketBytes);
        CHECK(report.token_bytes() == report.segments[0].bytes);
    }
}

TEST_CASE("sockets that cross no border of stages take no bytes of tokens and share their thread's scratch") {
    TracedChain chain(12);
    const RunReport report = chain.run({6, 6}, 1);
    CHECK(report.segments[0].bytes == report.segments[0].tokens * kSocketBytes);
    std::set<const void*> places;
    for (const std::size_t task : {0u, 1u, 2u, 3u, 4u}) {
        CHECK(chain.traces[task]->outputs.size() == 1);  // the same for every frame
        places.insert(chain.traces[task]->outputs.begin(), chain.traces[task]->outputs.end());
    }
    CHECK(places.size() == 2);  // a task reads the one and writes the other
}

TEST_CASE("a longer chain in the same stages takes no more bytes") {
    TracedChain small(4);
    TracedChain large(40);
    CHECK(small.run({2, 2}, 3).token_bytes() == large.run({20, 20}, 3).token_bytes());
}
