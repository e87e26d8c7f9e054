#include <atomic>
#include <stdexcept>
#include <thread>

#include <doctest/doctest.h>

#include "tidemill/runtime/dynamic/dynamic.hpp"
#include "tidemill/runtime/execute/pipeline.hpp"
#include "tidemill/runtime/testing/test_chain.hpp"

using namespace tidemill;
using internal::test_schedule;

namespace {

/// Knows which thread made it; the first is made by the builder of the graph.
struct Home : Module {
    Home() = default;
    Home(const Home& other)
        : Module(other),
          y(other.y),
          work(other.work),
          copied_by(std::this_thread::get_id()),
          away(other.away) {}
    Out<std::uint64_t> y = out<std::uint64_t>("y");
    Task work = task("work", &Home::run, cloned);
    std::thread::id copied_by{};
    std::atomic<int>* away = nullptr;

    void run(Frame f) {
        f[y][0] = f.number();
        if (copied_by != std::thread::id() && copied_by != std::this_thread::get_id()) ++*away;
    }
};

/// Cannot be copied when it is set so.
struct Fragile : Module {
    explicit Fragile(const bool& copies) : breaks(&copies) {}
    Fragile(const Fragile& other) : Module(other), y(other.y), work(other.work), breaks(other.breaks) {
        if (*breaks) throw std::runtime_error("out of licences");
    }
    Out<std::uint64_t> y = out<std::uint64_t>("y");
    Task work = task("work", &Fragile::run, cloned);
    const bool* breaks;
    void run(Frame f) { f[y][0] = f.number(); }
};

}  // namespace

TEST_CASE("a replica is made by the thread that works on it") {
    std::atomic<int> away{0};
    Graph graph;
    graph.add<Home>().away = &away;
    Pipeline(graph, test_schedule({{1, 4}})).run({.frames = 400});
    CHECK(away == 0);
    Dynamic(graph, {.workers = 4}).run({.frames = 400});
    CHECK(away == 0);
}

TEST_CASE("a module whose copying fails ends the run before any task, and the pipeline can run later") {
    bool breaks = true;
    Graph graph;
    graph.add<Fragile>(breaks);
    Pipeline pipeline(graph, test_schedule({{1, 3}}));
    CHECK_THROWS_WITH(pipeline.run({.frames = 100}),
                      "module 'fragile' (Fragile) failed while it was copied: out of licences");
    breaks = false;
    CHECK(pipeline.run({.frames = 100}).delivered == 100);
}
