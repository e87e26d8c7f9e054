#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tidemill/runtime/dynamic/dynamic.hpp"
#include "tidemill/runtime/execute/pipeline.hpp"
#include "tidemill/runtime/execute/sequence.hpp"
#include "tidemill/runtime/graph/structure.hpp"

using namespace tidemill;

namespace {

using Words = std::vector<std::uint64_t>;

/// 1, 2, ... up to a last number, then it stops.
class Count : public Module {
  public:
    explicit Count(std::uint64_t last) : last_(last) {}
    Out<std::uint64_t> value = out<std::uint64_t>("value");
    Task next = task("next", &Count::run);

  private:
    Flow run(Frame f) {
        f[value][0] = f.number() + 1;
        return f.number() == last_ ? Flow::stop : Flow::ok;
    }
    std::uint64_t last_;
};

/// A receiver of its own: gives every `step`-th number twice, what is left at the end once, and counts what
/// it saw.
class Thin : public Module {
  public:
    Thin(std::string name, std::uint64_t step) : Module(std::move(name)), step_(step) {}
    In<std::uint64_t> x = in<std::uint64_t>("x");
    Out<std::uint64_t> y = out<std::uint64_t>("y");
    Task thin = task("thin", &Thin::run, may_skip, may_repeat, at_end);

  private:
    Flow run(Frame f) {
        if (f.at_end()) return f[y][0] = 1'000'000 + seen_, Flow::ok;
        if (again_) return f[y][0] = f[x][0] + 1000, again_ = false, Flow::ok;
        if (++seen_ % step_ != 0) return Flow::skip;
        f[y][0] = f[x][0];
        again_ = true;
        return Flow::again;
    }
    std::uint64_t step_;
    std::uint64_t seen_ = 0;
    bool again_ = false;
};

/// Collects numbers and data.
class Collect : public Module {
  public:
    Collect(std::string name, Words& all) : Module(std::move(name)), all_(all) {}
    In<std::uint64_t> x = in<std::uint64_t>("x");
    Task collect = task("collect", &Collect::run);

  private:
    void run(Frame f) { all_.push_back(f.number() << 32 | f[x][0]); }
    Words& all_;
};

struct Branch {
    std::uint64_t step;
    Words collected{};
};

/// A source with as many receivers as there are branches, of which the last is nested in the first.
void build(Graph& graph, std::uint64_t last, std::vector<Branch>& branches) {
    auto& source = graph.add<Count>(last);
    Thin* first = nullptr;
    for (std::size_t i = 0; i < branches.size(); ++i) {
        const std::string number = std::to_string(i);
        auto& thin = graph.add<Thin>("thin" + number, branches[i].step);
        auto& halve = graph.add(task("halve" + number, in<std::uint64_t>("x"), out<std::uint64_t>("y"),
                                     [](auto x, auto y) { y[0] = x[0] * 3; }));
        auto& sink = graph.add<Collect>("sink" + number, branches[i].collected);
        const bool nested = i == 3;
        graph.bind(nested ? first->y : source.value, thin.x);
        graph.bind(thin["y"], halve["x"]);
        graph.bind(halve["y"], sink["x"]);
        if (i == 0) first = &thin;
    }
}

Schedule stages_of(std::size_t units, std::size_t cut, std::size_t other) {
    Schedule schedule;
    for (const auto& [first, end] : {std::pair{std::size_t{0}, cut}, {cut, other}, {other, units}}) {
        if (first == end) continue;
        Stage& stage = schedule.stages.emplace_back();
        stage.first_task = first;
        stage.task_count = end - first;
        stage.threads = 1;
        stage.core_kind = "big";
    }
    return schedule;
}

std::vector<Branch> fresh() {
    return {{2}, {3}, {5}, {2}};
}

/// Output of the branches in order, and the number of units of their program.
struct InOrder {
    std::vector<Branch> branches;
    std::size_t units;
};

InOrder in_order(std::uint64_t last) {
    std::vector<Branch> branches = fresh();
    Graph graph;
    build(graph, last, branches);
    Sequence(graph).run();
    return {std::move(branches), structure_of(graph).units.size()};
}

}  // namespace

TEST_CASE("branches behind one source give what each would give alone, in numbers of their own") {
    std::vector<Branch> together = fresh();
    Graph graph;
    build(graph, 30, together);
    const RunReport report = Sequence(graph).run();
    std::uint64_t frames = 0;
    for (std::size_t i = 0; i < together.size(); ++i) {
        CAPTURE(i);
        if (i < 3) {
            std::vector<Branch> alone{{together[i].step}};
            Graph single;
            build(single, 30, alone);
            Sequence(single).run();
            CHECK(together[i].collected == alone[0].collected);
        }
        CHECK(together[i].collected.size() > 2);
        for (std::size_t k = 0; k < together[i].collected.size(); ++k)
            CHECK((together[i].collected[k] >> 32) == k);
        frames += i == 0 ? 0 : together[i].collected.size();
    }
    // The first branch has another one behind it: what comes of its frames is counted there.
    CHECK(report.delivered == frames);
}

TEST_CASE("branches give the same under every executor, cut and batch") {
    const InOrder expected = in_order(30);
    const auto check = [&](const auto& run) {
        std::vector<Branch> got = fresh();
        Graph other;
        build(other, 30, got);
        run(other);
        for (std::size_t i = 0; i < got.size(); ++i)
            CHECK(got[i].collected == expected.branches[i].collected);
    };
    check([](Graph& g) { Dynamic(g, {.workers = 3}).run(); });
    for (std::size_t cut = 1; cut < expected.units; ++cut) {
        for (std::size_t other = cut; other < expected.units; other += 3) {
            for (const std::uint32_t batch : {1, 3}) {
                INFO("cut at ", cut, " and ", other, " batch ", batch);
                check([&](Graph& g) {
                    Pipeline(g, stages_of(expected.units, cut, other), {.frames = batch}).run();
                });
            }
        }
    }
}

TEST_CASE("numbers of branches go on over a change of schedule and a resume") {
    const InOrder expected = in_order(30);
    std::vector<Branch> got = fresh();
    Graph other;
    build(other, 30, got);
    SUBCASE("pipeline") {
        Pipeline pipeline(other, stages_of(expected.units, 4, 9));
        pipeline.run({.frames = 7});
        pipeline.reschedule(stages_of(expected.units, 2, 6));
        pipeline.resume({.frames = 7});
        pipeline.resume();
    }
    SUBCASE("dynamic") {
        Dynamic dynamic(other);
        dynamic.run({.frames = 7});
        dynamic.resume();
    }
    for (std::size_t i = 0; i < got.size(); ++i) CHECK(got[i].collected == expected.branches[i].collected);
}

TEST_CASE("numbers belong to the graph: they go on under another executor, and begin again with run") {
    const InOrder expected = in_order(30);
    std::vector<Branch> got = fresh();
    Graph other;
    build(other, 30, got);
    CHECK(Sequence(other).run({.frames = 5}).frames == 5);
    CHECK(Dynamic(other).resume({.frames = 6}).frames == 6);
    Pipeline(other, stages_of(expected.units, 3, 8)).resume({.frames = 7});
    Dynamic(other).resume();
    for (std::size_t i = 0; i < got.size(); ++i) CHECK(got[i].collected == expected.branches[i].collected);
    CHECK_THROWS_WITH(
        Sequence(other).resume(),
        "the stream of graph 'graph' has ended, and its tasks have seen it: begin a new one with run()");
    got[0].collected.clear();
    Sequence(other).run({.frames = 2});
    CHECK((got[0].collected.front() >> 32) == 0);
}

TEST_CASE("a graph that has grown by a branch since it ran begins a new stream") {
    Graph graph;
    std::vector<Branch> one = {{2}};
    build(graph, 30, one);
    Sequence(graph).run({.frames = 3});
    auto& more = graph.add<Thin>("more", 3);
    graph.bind(graph.module(0)["value"], more["x"]);
    CHECK_THROWS_WITH(Sequence(graph).resume(),
                      "graph 'graph' has grown since it ran: begin a new stream with run()");
    CHECK(Sequence(graph).run({.frames = 3}).frames == 3);
}
