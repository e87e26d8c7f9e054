#include "tidemill/tuning/profile/profiler.hpp"

#include <doctest/doctest.h>

#include "tidemill/tuning/profile/cut_bytes.hpp"

namespace tidemill {
namespace {

// Six frames of 80 bytes, of which every third goes on as 8 bytes; `last` also wants what `first` made.
void build(Graph& graph) {
    using Word = std::uint64_t;
    auto& source =
        graph.add(task("source", out<Word>("x", 10), [n = Word{0}](auto x) mutable { x[0] = n++; }));
    auto& first =
        graph.add(task("first", in<Word>("x", 10), out<float>("y", 5), [](auto, auto y) { y[0] = 0; }));
    auto& third = graph.add(task("third", may_skip, in<Word>("x", 10), out<Word>("z"), [](auto x, auto z) {
        z[0] = x[0];
        return x[0] % 3 == 0 ? Flow::ok : Flow::skip;
    }));
    auto& middle =
        graph.add(task("middle", in<Word>("z"), out<Word>("w"), [](auto z, auto w) { w[0] = z[0]; }));
    auto& last =
        graph.add(task("last", in<Word>("z"), in<Word>("w"), in<float>("y", 5), [](auto, auto, auto) {}));
    graph.bind(source["x"], first["x"]);
    graph.bind(source["x"], third["x"]);
    graph.bind(third["z"], middle["z"]);
    graph.bind(third["z"], last["z"]);
    graph.bind(middle["w"], last["w"]);
    graph.bind(first["y"], last["y"]);
}

}  // namespace

TEST_CASE("a cut moves each socket that is read behind it once, as often as it is read there") {
    Graph graph;
    build(graph);
    Sequence sequence(graph);
    const RunReport report = sequence.run({.frames = 6});
    REQUIRE(report.units.size() == 5);
    REQUIRE(report.units[1].name == "first.first");
    const double y = 20.0 / 3;  // last runs on every third frame
    const std::vector<double> bytes = cut_bytes(graph, sequence.structure(), report);
    CHECK(bytes[0] == 80);
    CHECK(bytes[1] == doctest::Approx(80 + y));
    CHECK(bytes[2] == doctest::Approx(8.0 / 3 + y));
    CHECK(bytes[3] == doctest::Approx(16.0 / 3 + y));
    CHECK(bytes[4] == 0);
}

TEST_CASE("a profile has every unit and tells what a cut behind it moves, in whole numbers") {
    Graph graph;
    build(graph);
    const Profile found = profile(graph, Topology::here(), {.frames = 6});
    REQUIRE(found.tasks.size() == 5);
    CHECK(found.tasks[0].bytes_after == 80);
    CHECK(found.tasks[1].bytes_after == 87);
    CHECK(found.tasks[4].bytes_after == 0);
    for (const ChainTask& task : found.tasks) CHECK(task.weight_us.size() == Topology::here().kinds.size());
}

namespace {

/// A source of so many frames, which counts them.
class Counted : public Module {
  public:
    explicit Counted(std::uint64_t last) : last_(last) {}
    Out<std::uint64_t> x = out<std::uint64_t>("x");
    Task next = task("next", &Counted::count);
    std::uint64_t begun = 0;

  private:
    Flow count(Frame f) {
        f[x][0] = begun;
        return begun++ >= last_ ? Flow::stop : Flow::ok;
    }
    std::uint64_t last_;
};

/// One kind of cores: what this machine calls its first.
Topology one_kind() {
    Topology topology = Topology::here();
    topology.kinds.resize(1);
    return topology;
}

}  // namespace

TEST_CASE("a profile warms up before it counts, and says so when the stream is over by then") {
    Graph graph;
    auto& source = graph.add<Counted>(1000);
    const Topology topology = one_kind();
    const Profile found = profile(graph, topology, {.frames = 100});
    CHECK(source.begun == 120);
    CHECK(found.measured_by == "tidemill, 100 source frames");
    CHECK(found.warnings.empty());

    Graph short_graph;
    short_graph.add<Counted>(25);
    const Profile from_warm_up = profile(short_graph, topology, {.frames = 100});
    CHECK(from_warm_up.measured_by == "tidemill, 20 source frames");
    REQUIRE(from_warm_up.warnings.size() == 1);
    CHECK(from_warm_up.warnings[0].find("warm-up") != std::string::npos);
}

TEST_CASE("a profile that waits for output counts only what comes behind the first of it") {
    Graph graph;
    auto& source = graph.add<Counted>(1000);
    const Topology topology = one_kind();
    Profiler profiler(topology, {.frames = 50});
    const auto output = [&] { return source.begun > 300 ? source.begun - 300 : 0; };
    const Profiler::Profiled profiled = profiler.profile(graph, *profiler.kinds().front(), output);
    CHECK(profiled.frames == 50);
    CHECK(profiled.output == 50);
    CHECK(source.begun == 351);
}

TEST_CASE("a profile of a source without a frame is refused") {
    Graph graph;
    graph.add<Counted>(0);
    CHECK_THROWS_AS(profile(graph, one_kind(), {.frames = 100}), ScheduleError);
}

TEST_CASE("a profile names the tasks that are sequential only for want of a word") {
    Graph graph;
    const float gain = 2;
    auto& source = graph.add(task("source", out<float>("x"), [n = 0.0f](auto x) mutable { x[0] = n++; }));
    auto& twice = graph.add(task("twice", forward<float>("x"), [gain](auto x) { x[0] *= gain; }));
    auto& thrice = graph.add(task("thrice", pure, forward<float>("x"), [gain](auto x) { x[0] *= gain; }));
    auto& sink = graph.add(task("sink", in<float>("x"), [](auto) {}));
    graph.chain(source, twice, thrice, sink);
    const Profile found = profile(graph, Topology::here(), {.frames = 6});
    CHECK(missing_words(found) ==
          "sequential only for want of a word: twice.twice (say pure, if nothing that they refer to "
          "changes)\n");
    CHECK_FALSE(found.tasks[1].replicable);
    CHECK(found.tasks[2].replicable);
}

}  // namespace tidemill
