// Cost of labels, marks, knobs set by tasks, and branches, beside the same by hand.
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include <benchmark/benchmark.h>

#include "tidemill/runtime/execute/sequence.hpp"
#include "tidemill/testing/bench.hpp"

namespace tidemill {
namespace {

constexpr int kRounds = 11;
constexpr std::uint64_t kFrames = 200'000;
constexpr std::size_t kBetween = 8;

const bool kAsked =
    bench::ask({"graph/label_unread",
                "What does a stream of ten tasks cost whose first one gives a label that nobody reads?",
                "ns a frame", "an output that nobody reads"}) &&
    bench::ask({"graph/label_read", "And where the last one reads it, behind eight others?", "ns a frame",
                "an output bound to an input by hand"}) &&
    bench::ask({"graph/marks", "What do four marks on 64 elements cost that the last of ten tasks reads?",
                "ns a frame", "a list of up to 16 places and numbers, bound by hand"}) &&
    bench::ask({"graph/branches",
                "What do four branches with state behind one source cost, each of which skips one frame of "
                "four, where "
                "each task works so many rounds of a nanosecond or so?",
                "ns a frame", "four graphs with one branch each, together"});

/// Ways of a value from the first of ten tasks to the last one.
enum class By { nothing, label, binding, marks, list };

constexpr std::size_t kElements = 64;
constexpr std::size_t kMarks = 4;

struct First : Module {
    explicit First(By by) : y(out<std::uint64_t>("y", kElements)) {
        if (by == By::label) given = label<std::uint64_t>("given");
        if (by == By::binding) bound = out<std::uint64_t>("given");
        if (by == By::marks) marked = marks<std::uint64_t>("marked", y);
        if (by == By::list) listed = out<Mark<std::uint64_t>>("marked", upto(16));
        task("give", &First::run);
    }
    Out<std::uint64_t> y;
    std::optional<Label<std::uint64_t>> given{};
    std::optional<Out<std::uint64_t>> bound{};
    std::optional<Marks<std::uint64_t>> marked{};
    std::optional<OutUpTo<Mark<std::uint64_t>>> listed{};

    void run(Frame f) {
        f[y][0] = f.number();
        if (given) f[*given] = f.number();
        if (bound) f[*bound][0] = f.number();
        for (std::uint64_t i = 0; marked && i < kMarks; ++i) f[*marked].add(16 * i, i);
        for (std::uint64_t i = 0; listed && i < kMarks; ++i) f[*listed].push_back({{16 * i}, i});
    }
};

struct Last : Module {
    explicit Last(By by) : x(in<std::uint64_t>("x", kElements)) {
        if (by == By::label) given = label<const std::uint64_t>("given");
        if (by == By::binding) bound = in<std::uint64_t>("given");
        if (by == By::marks) marked = marks<const std::uint64_t>("marked", x);
        if (by == By::list) listed = in<Mark<std::uint64_t>>("marked", upto(16));
        task("take", &Last::run);
    }
    In<std::uint64_t> x;
    std::optional<Label<const std::uint64_t>> given{};
    std::optional<In<std::uint64_t>> bound{};
    std::optional<Marks<const std::uint64_t>> marked{};
    std::optional<InUpTo<Mark<std::uint64_t>>> listed{};
    std::uint64_t sum = 0;

    void run(Frame f) {
        sum += f[x][0];
        if (given) sum += f[*given];
        if (bound) sum += f[*bound][0];
        if (marked) add(f[*marked]);
        if (listed) add(f[*listed]);
    }
    void add(std::span<const Mark<std::uint64_t>> marks) {
        for (const auto& mark : marks) sum += mark.place.element + mark.value;
    }
};

/// Ten tasks, of which eight pass on what the first one gives.
class Chain {
  public:
    Chain(By gives, By reads) : first_(graph_.add<First>(gives)), last_(graph_.add<Last>(reads)) {
        SocketRef from = first_.y;
        for (std::size_t i = 0; i < kBetween; ++i) {
            auto& pass = graph_.add(
                task("pass", sequential, forward<std::uint64_t>("x", kElements), [](auto x) { ++x[0]; }));
            graph_.bind(from, pass["x"]);
            from = pass["x"];
        }
        graph_.bind(from, last_.x);
        if (last_.bound) graph_.bind(*first_.bound, *last_.bound);
        if (last_.listed) graph_.bind(*first_.listed, *last_.listed);
        sequence_.emplace(graph_);
    }

    double frame_ns() {
        const bench::CpuStopwatch watch;
        sequence_->resume({.frames = kFrames, .statistics = false});
        return watch.ns() / static_cast<double>(kFrames);
    }
    std::uint64_t sum() const { return last_.sum; }

  private:
    Graph graph_;
    First& first_;
    Last& last_;
    std::optional<Sequence> sequence_;
};

void compare(benchmark::State& state, By ours_by, By ours_reads, By hand_by, By hand_reads) {
    Chain ours(ours_by, ours_reads);
    Chain by_hand(hand_by, hand_reads);
    bench::Ratio ratio;
    for (auto _ : state) {
        for (int round = 0; round < kRounds; ++round) ratio.add(ours.frame_ns(), by_hand.frame_ns());
    }
    if (ours.sum() != by_hand.sum()) state.SkipWithError("another sum");
    ratio.report(state);
}

void label_unread(benchmark::State& state) {
    compare(state, By::label, By::nothing, By::binding, By::nothing);
}
void label_read(benchmark::State& state) {
    compare(state, By::label, By::label, By::binding, By::binding);
}
void marks_read(benchmark::State& state) {
    compare(state, By::marks, By::marks, By::list, By::list);
}

/// The same number, some nanoseconds later.
std::uint64_t worked(std::uint64_t number, std::int64_t rounds) {
    for (std::int64_t i = 0; i < rounds; ++i) {
        number ^= 1;
        benchmark::DoNotOptimize(number);
    }
    return rounds % 2 == 0 ? number : number ^ 1;
}

/// Branches behind one source: each skips every fourth frame, and adds up the others; with so many rounds of
/// work in each task.
class Branches {
  public:
    Branches(std::size_t count, std::int64_t rounds) {
        auto& source = graph_.add(task("source", sequential, out<std::uint64_t>("y"),
                                       [rounds, n = 0u](auto y) mutable { y[0] = worked(n++, rounds); }));
        for (std::size_t i = 0; i < count; ++i) {
            auto& pick = graph_.add(task("pick", sequential, may_skip, in<std::uint64_t>("x"),
                                         out<std::uint64_t>("y"), [rounds](auto x, auto y) {
                                             y[0] = worked(x[0], rounds);
                                             return x[0] % 4 == 0 ? Flow::skip : Flow::ok;
                                         }));
            auto& add = graph_.add(task("add", sequential, in<std::uint64_t>("x"),
                                        [this, rounds](auto x) { sum += worked(x[0], rounds); }));
            graph_.bind(source["y"], pick["x"]);
            graph_.bind(pick["y"], add["x"]);
        }
        sequence_.emplace(graph_);
    }

    double frame_ns() {
        const bench::CpuStopwatch watch;
        sequence_->resume({.frames = kFrames, .statistics = false});
        return watch.ns() / static_cast<double>(kFrames);
    }
    std::uint64_t sum = 0;

  private:
    Graph graph_;
    std::optional<Sequence> sequence_;
};

void branches(benchmark::State& state) {
    constexpr std::size_t kBranches = 4;
    Branches together(kBranches, state.range(0));
    std::vector<std::unique_ptr<Branches>> alone;
    for (std::size_t i = 0; i < kBranches; ++i)
        alone.push_back(std::make_unique<Branches>(1, state.range(0)));
    bench::Ratio ratio;
    for (auto _ : state) {
        for (int round = 0; round < kRounds; ++round) {
            double each = 0;
            for (const auto& graph : alone) each += graph->frame_ns();
            ratio.add(together.frame_ns(), each);
        }
    }
    std::uint64_t sum = 0;
    for (const auto& graph : alone) sum += graph->sum;
    if (sum != together.sum) state.SkipWithError("another sum");
    ratio.report(state);
}

BENCHMARK(label_unread)->Name("graph/label_unread")->Apply(bench::once);
BENCHMARK(label_read)->Name("graph/label_read")->Apply(bench::once);
BENCHMARK(marks_read)->Name("graph/marks")->Apply(bench::once);
BENCHMARK(branches)
    ->Name("graph/branches")
    ->ArgName("rounds")
    ->Arg(0)
    ->Arg(100)
    ->Arg(1000)
    ->Apply(bench::once);

}  // namespace
}  // namespace tidemill
