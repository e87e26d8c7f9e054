#include "tidemill/runtime/execute/duplicates.hpp"

#include <memory>
#include <set>
#include <stdexcept>

#include <doctest/doctest.h>

using namespace tidemill;

namespace {

struct Numbers : Module {
    Out<std::uint64_t> y = out<std::uint64_t>("y");
    Task make = task("make", &Numbers::run);
    void run(Frame f) { f[y][0] = f.number(); }
};

/// Remembers what it saw; a copy's memory is merged into the original's.
struct Memory : Module {
    In<std::uint64_t> x = in<std::uint64_t>("x");
    Task take = task("take", &Memory::run);
    std::multiset<std::uint64_t> seen{};
    std::uint64_t calls = 0;

    void run(Frame f) {
        if (f[x][0] == 1000) throw std::runtime_error("too far");
        seen.insert(f[x][0]);
        ++calls;
    }
    void reset_counters() override { seen.clear(); }
    void merge(Module& clone) override { seen.merge(static_cast<Memory&>(clone).seen); }
};

}  // namespace

TEST_CASE("duplicates share the frames of one stream and keep their own state") {
    Graph graph;
    auto& numbers = graph.add<Numbers>();
    auto& memory = graph.add<Memory>();
    graph.bind(numbers.y, memory.x);
    Duplicates duplicates(graph, 3);
    const std::vector<RunReport> reports = duplicates.run({.frames = 10});
    CHECK(memory.seen == std::multiset<std::uint64_t>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
    CHECK(memory.calls == 4);
    REQUIRE(reports.size() == 3);
    CHECK(reports[0].frames == 4);
    CHECK(reports[1].frames == 3);
    CHECK(reports[2].frames == 3);

    duplicates.run({.frames = 3});
    CHECK(memory.seen.count(0) == 2);
    CHECK(memory.seen.count(3) == 1);
}

TEST_CASE("a duplicate that fails ends the others") {
    Graph graph;
    auto& numbers = graph.add<Numbers>();
    auto& memory = graph.add<Memory>();
    graph.bind(numbers.y, memory.x);
    try {
        Duplicates(graph, 3).run();
        FAIL("it went on");
    } catch (const FrameError& error) {
        CHECK(error.frame() == 1000);
    }
    CHECK(memory.seen.count(997) == 1);
}

TEST_CASE("a graph with a module that cannot be copied has no duplicates") {
    struct Unique : Module {
        Out<int> y = out<int>("y");
        Task make = task("make", &Unique::run);
        std::unique_ptr<int> own{};
        void run(Frame) {}
    };
    Graph graph;
    graph.add<Unique>();
    CHECK_THROWS_AS(Duplicates(graph, 2), GraphError);
    CHECK_NOTHROW(Duplicates(graph, 1));
    CHECK_THROWS_WITH(Duplicates(graph, 0), "0 duplicates of a graph; give 1 or more");
}
