#include <algorithm>
#include <numeric>
#include <random>
#include <tuple>
#include <vector>

#include <doctest/doctest.h>

#include "tidemill/runtime/dynamic/dynamic.hpp"
#include "tidemill/runtime/execute/pipeline.hpp"
#include "tidemill/runtime/execute/sequence.hpp"
#include "tidemill/runtime/graph/delay.hpp"
#include "tidemill/runtime/graph/testbench.hpp"
#include "tidemill/runtime/graph/window.hpp"

using namespace tidemill;

namespace {

/// A mark that a test gave or read: where in the whole stream, and which one.
struct Told {
    std::uint64_t element;
    std::uint32_t over;
    std::uint32_t under;
    std::uint32_t which;

    auto operator<=>(const Told&) const = default;
};

/// Numbers its elements, and puts a mark on each with the odds of one in `rare`.
struct Source : Module {
    Source(std::size_t count, std::uint32_t rare_one, std::uint32_t seed)
        : y(out<std::uint64_t>("y", count)),
          burst(marks<std::uint32_t>("burst", y, upto(count))),
          make(task("make", &Source::run)),
          rare(rare_one),
          random(seed) {}

    Out<std::uint64_t> y;
    Marks<std::uint32_t> burst;
    Task make;

    void run(Frame f) {
        for (std::size_t i = 0; i < f[y].size(); ++i) {
            f[y][i] = next;
            if (random() % rare == 0) {
                f[burst].add(i, which);
                given.push_back({next, 0, 1, which++});
            }
            ++next;
        }
    }

    std::uint32_t rare;
    std::minstd_rand random;
    std::uint64_t next = 0;
    std::uint32_t which = 0;
    std::vector<Told> given;
};

/// Passes the first element of each `taken` on as `given` elements.
struct Resample : Module {
    Resample(std::size_t taken, std::size_t given)
        : x(in<std::uint64_t>("x", taken)), y(out<std::uint64_t>("y", given)) {
        task("run", &Resample::run, pure);
    }
    In<std::uint64_t> x;
    Out<std::uint64_t> y;
    void run(Frame f) const { std::fill(f[y].begin(), f[y].end(), f[x][0]); }
};

/// Writes down the marks that it reads, by their places in its whole stream.
struct Reader : Module {
    explicit Reader(std::size_t count, std::size_t past = 0)
        : x(in<std::uint64_t>("x", past + count)),
          burst(marks<const std::uint32_t>("burst", x, upto(4 * count))),
          read(task("read", &Reader::run)),
          fresh(count),
          skipped(past) {}

    In<std::uint64_t> x;
    Marks<const std::uint32_t> burst;
    Task read;

    void run(Frame f) {
        for (const auto& [place, which] : f[burst]) {
            REQUIRE(place.element >= skipped);
            REQUIRE(place.element < skipped + fresh);
            told.push_back({begun + place.element - skipped, place.over, place.under, which});
        }
        begun += fresh;
    }

    std::uint64_t fresh;
    std::uint64_t skipped;
    std::uint64_t begun = 0;
    std::vector<Told> told;
};

/// Gives each mark again, so many elements later, as a task does that delays its data.
struct Later : Module {
    Later(std::size_t count, std::uint64_t later)
        : data(forward<std::uint64_t>("data", count)),
          early(marks<const std::uint32_t>("burst", data, upto(count), "early")),
          late(marks<std::uint32_t>("burst", data, upto(count), "late")),
          by(later) {
        task("move", &Later::move);
    }

    Forward<std::uint64_t> data;
    Marks<const std::uint32_t> early;
    Marks<std::uint32_t> late;

    void move(Frame f) {
        for (Mark<std::uint32_t> mark : f[early]) {
            mark.place.element += by;
            held.push_back(mark);
        }
        std::erase_if(held, [&](Mark<std::uint32_t>& mark) {
            if (mark.place.element < data.count) return f[late].add(mark.place, mark.value);
            mark.place.element -= data.count;
            return false;
        });
    }

    std::uint64_t by;
    std::vector<Mark<std::uint32_t>> held;  // places count from the next call's first element
};

/// Places of marks of one stream in another one, with `to` elements for each `from`.
std::vector<Told> moved(const std::vector<Told>& given, std::uint64_t to, std::uint64_t from) {
    std::vector<Told> moved;
    for (const Told& mark : given) {
        const std::uint64_t over = mark.element * to % from;
        const std::uint64_t shared = std::gcd(over, from);
        moved.push_back({mark.element * to / from, static_cast<std::uint32_t>(over / shared),
                         static_cast<std::uint32_t>(from / shared), mark.which});
    }
    return moved;
}

std::vector<Told> in_order(std::vector<Told> marks) {
    std::ranges::sort(marks, {}, &Told::which);
    return marks;
}

/// Runs a graph under each executor, some frames each; numbers and modules go on.
void run_everywhere(Graph& graph, std::uint64_t frames) {
    Sequence(graph).run({.frames = frames});
    Pipeline(graph, thread_per_task(graph), {.frames = 3}).resume({.frames = frames});
    Dynamic(graph, {.workers = 2}).resume({.frames = frames});
}

}  // namespace

TEST_CASE("places scale exactly, and what 32 bits cannot say is refused") {
    CHECK(scaled({7, 0, 1}, 160, 147) == ElementPosition{7, 13, 21});
    CHECK(scaled({7, 13, 21}, 147, 160) == ElementPosition{7, 0, 1});
    CHECK(scaled({0xffffffffffffull, 1, 3}, 0xffffffff, 0xffffffff) ==
          ElementPosition{0xffffffffffffull, 1, 3});
    CHECK(scaled({1ull << 40, 0xfffffffe, 0xffffffff}, 3, 2).element == (3ull << 39) + 1);
    CHECK_THROWS_WITH_AS(scaled({0, 1, 0xffffffff}, 1, 2),
                         "a mark's place is no fraction of 32 bits any more: round it where it is given",
                         GraphError);
}

TEST_CASE("marks go along with their elements over rates, and a reader has each in the firing it lies on") {
    Graph graph;
    auto& source = graph.add<Source>(4, 3, 1);
    auto& up = graph.add<Resample>(147, 160);
    auto& down = graph.add<Resample>(3, 2);
    auto& behind_up = graph.add<Reader>(5);
    auto& behind_both = graph.add<Reader>(7);
    graph.stream(source.y, up.x);
    graph.stream(up.y, down.x);
    graph.stream(up.y, behind_up.x);
    graph.stream(down.y, behind_both.x);
    run_everywhere(graph, 2);
    CHECK(source.given.size() > 1000);
    CHECK(in_order(behind_up.told) == moved(source.given, 160, 147));
    CHECK(in_order(behind_both.told) == moved(source.given, 320, 441));
    CHECK(std::ranges::is_sorted(behind_both.told, {}, &Told::which));
}

TEST_CASE("marks that are delayed as their data are lie on the same elements behind a Delay") {
    Graph graph;
    auto& source = graph.add<Source>(10, 4, 3);
    auto& delay = graph.add<Later>(10, 20);
    auto& past = graph.add<Delay<std::uint64_t>>("past", 10, 2);
    std::size_t read = 0;
    std::vector<std::uint64_t> marked;
    auto& reader = graph.add(task("reader", sequential, in<std::uint64_t>("x", 10),
                                  marks<const std::uint32_t>("burst", "x"), [&](auto x, auto burst) {
                                      for (const auto& mark : burst) marked.push_back(x[mark.place.element]);
                                      read += x.size();
                                  }));
    graph.bind(source.y, delay.data);
    graph.bind(delay.data, past.now);
    graph.bind(past["delayed"], reader["x"]);
    graph.bind(delay["late"], reader["burst"]);
    Pipeline(graph, thread_per_task(graph)).run({.frames = 40});
    std::vector<std::uint64_t> expected;
    for (const Told& mark : source.given)
        if (mark.element < 380) expected.push_back(mark.element);
    CHECK(marked == expected);
}

TEST_CASE("a reader that peeks finds marks on its new elements") {
    Graph graph;
    auto& source = graph.add<Source>(6, 2, 4);
    auto& reader = graph.add<Reader>(6, 5);
    peek(graph, source.y, reader.x);
    run_everywhere(graph, 20);
    CHECK(reader.told == source.given);
}

TEST_CASE("a task may read marks and give them anew, with others") {
    Graph graph;
    auto& source = graph.add<Source>(4, 2, 5);
    auto& twice = graph.add(task("twice", pure, in<std::uint64_t>("x", 4), out<std::uint64_t>("y", 8),
                                 marks<const std::uint32_t>("burst", "x", upto(4), "before"),
                                 marks<std::uint32_t>("burst", "y", upto(4)),
                                 [](auto x, auto y, auto before, auto after) {
                                     for (std::size_t i = 0; i < y.size(); ++i) y[i] = x[i / 2];
                                     for (const auto& mark : before)
                                         after.add(scaled(mark.place, 2, 1), mark.value);
                                 }));
    auto& reader = graph.add<Reader>(8);
    graph.chain(source, twice, reader);
    run_everywhere(graph, 20);
    CHECK(reader.told == moved(source.given, 2, 1));
}

TEST_CASE("marks beyond a list's room are counted for its socket, the giver's and the reader's") {
    Graph graph;
    auto& source = graph.add(task("source", sequential, out<int>("y", 8), marks<int>("burst", "y", upto(4)),
                                  [](auto, MarkList<int> burst) {
                                      for (int i = 0; i < 6; ++i)
                                          CHECK(burst.add(std::uint64_t(i), i) == (i < 4));
                                  }));
    auto& reader =
        graph.add(task("reader", sequential, in<int>("x", 4), marks<const int>("burst", "x", upto(3)),
                       [](auto, auto burst) { CHECK((burst.empty() || burst.size() == 3)); }));
    graph.stream(source["y"], reader["x"]);
    const RunReport report = Sequence(graph).run({.frames = 5});
    CHECK(report.lost_marks ==
          std::map<std::string, std::uint64_t>{{"reader.burst", 5}, {"source.burst", 10}});
    CHECK(Sequence(graph).run({.frames = 1}).lost_marks.at("source.burst") == 2);
    CHECK(error_lines(report).starts_with(
        "marks      reader.burst had no room for 5: let its list hold more\n"));
}

TEST_CASE("what is no place of marks is refused in one sentence") {
    Graph graph;
    CHECK_THROWS_WITH_AS(
        graph.add(
            task("bad", sequential, out<int>("y", 8), marks<const int>("burst", "y"), [](auto, auto) {})),
        "bad.burst: marks are read on an input of the same task, declared before them, of one count",
        GraphError);
    auto& source = graph.add(task("source", sequential, out<int>("y", 8), marks<int>("burst", "y"),
                                  [](auto, auto burst) { burst.add(8, 1); }));
    auto& squelch =
        graph.add(task("squelch", sequential, may_skip, forward<int>("x", 8), [](auto) { return Flow::ok; }));
    auto& reader = graph.add(
        task("reader", sequential, in<int>("x", 8), marks<const int>("burst", "x"), [](auto, auto) {}));
    graph.chain(source, squelch, reader);
    CHECK_THROWS_WITH_AS(
        Sequence{graph},
        "reader.burst: marks do not pass squelch.squelch, behind which frames are others: let it read "
        "them, and give those that lie on its own",
        GraphError);
    Graph other;
    auto& giver = other.add(task("giver", sequential, out<int>("y", 8), marks<int>("burst", "y"),
                                 [](auto, auto burst) { burst.add(8, 1); }));
    auto& taker = other.add(
        task("taker", sequential, in<int>("x", 8), in<Mark<int>>("list", upto(16)), [](auto, auto) {}));
    CHECK_THROWS_AS(other.bind(giver["burst"], taker["list"]), GraphError);
    Graph third;
    third.add(task("giver", sequential, out<int>("y", 8), marks<int>("burst", "y"),
                   [](auto, auto burst) { burst.add(8, 1); }));
    CHECK_THROWS_WITH_AS(Sequence(third).run({.frames = 1}),
                         "task giver.giver (stage 1, replica 1) failed at frame 0: a mark on element 8, but "
                         "the socket has 8, from 0",
                         FrameError);
}

TEST_CASE("a place that is no fraction of an element is refused where it is given") {
    for (const ElementPosition bad :
         {ElementPosition{5, 9, 2}, ElementPosition{5, 2'000'000, 1}, ElementPosition{0, 0, 0}}) {
        Graph graph;
        auto& source = graph.add(task("source", sequential, out<int>("y", 6), marks<int>("burst", "y"),
                                      [bad](auto, auto burst) { burst.add(bad, 1); }));
        auto& reader = graph.add(
            task("reader", sequential, in<int>("x", 4), marks<const int>("burst", "x"), [](auto, auto) {}));
        graph.stream(source["y"], reader["x"]);
        CHECK_THROWS_WITH_AS(Sequence(graph).run({.frames = 1}), doctest::Contains("give less than 1"),
                             FrameError);
    }
}

TEST_CASE("at the stream's end there are no marks to read, and those that are given go on") {
    Graph graph;
    auto& source = graph.add(task("source", sequential, out<int>("y", 4), marks<int>("burst", "y"),
                                  [](auto, auto burst) { burst.add(1, 7); }));
    std::vector<int> read;
    auto& last = graph.add(task("last", sequential, at_end, in<int>("x", 4), out<int>("y", 4),
                                marks<const int>("burst", "x", upto(4), "before"), marks<int>("burst", "y"),
                                [](auto x, auto, auto before, auto burst) {
                                    CHECK(before.size() == (x.empty() ? 0 : 1));
                                    burst.add(2, x.empty() ? 9 : before[0].value);
                                }));
    auto& reader = graph.add(task("reader", sequential, in<int>("x", 4), marks<const int>("burst", "x"),
                                  [&](auto, auto burst) { read.push_back(burst[0].value); }));
    graph.chain(source, last, reader);
    Pipeline(graph, thread_per_task(graph)).run({.frames = 2, .finish = true});
    CHECK(read == std::vector<int>{7, 7, 9});
}

TEST_CASE("a testbench feeds the marks that a module reads, and reads those that it gives") {
    Testbench<Later> bench(4, 1);
    bench.feed(bench->data, {1, 2, 3, 4}).feed(bench->early, {{{0, 1, 2}, 5}, {{3}, 6}}).step();
    const auto given = bench.read(bench->late);
    CHECK(given.size() == 1);
    CHECK(given[0].place == ElementPosition{1, 1, 2});
    CHECK(given[0].value == 5);
}

TEST_CASE("10^6 marks through a chain of 147:160 and 3:2: each on its element, none lost") {
    Graph graph;
    auto& source = graph.add<Source>(49, 2, 6);
    auto& up = graph.add<Resample>(147, 160);
    auto& down = graph.add<Resample>(3, 2);
    auto& reader = graph.add<Reader>(8);
    graph.stream(source.y, up.x);
    graph.stream(up.y, down.x);
    graph.stream(down.y, reader.x);
    const RunReport report = Pipeline(graph, thread_per_task(graph), {.frames = 2}).run({.frames = 4600});
    CHECK(report.lost_marks.empty());
    CHECK(source.given.size() > 1'000'000);
    CHECK(in_order(reader.told) == moved(source.given, 320, 441));
}
