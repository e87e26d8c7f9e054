#include <doctest/doctest.h>

#include "tidemill/runtime/dynamic/dynamic.hpp"
#include "tidemill/runtime/dynamic/testing/kind_watch.hpp"
#include "tidemill/runtime/execute/sequence.hpp"
#include "tidemill/scheduling/dynamic/policy_error.hpp"
#include "tidemill/scheduling/unequal/emulation.hpp"

namespace tidemill {
namespace {

constexpr policy::KindSet kBig = 1;
constexpr policy::KindSet kLittle = 2;

struct Chain {
    Chain() {
        auto& source = graph.add(task("source", out<int>("y"), [n = 0](auto y) mutable { y[0] = n++; }));
        auto& work =
            graph.add(task("work", in<int>("x"), out<int>("y"), [](auto x, auto y) { y[0] = x[0]; }));
        auto& sink = graph.add(task("sink", in<int>("x"), [this](auto x) { sum += x[0]; }));
        graph.chain(source, work, sink);
    }
    Graph graph;
    std::int64_t sum = 0;
};

}  // namespace

TEST_CASE("dynamic: tasks run on the kinds of cores that they are confined to, and nowhere else") {
    for (const std::uint64_t window : {1, 16}) {
        Chain chain;
        const std::vector<policy::KindId> kinds{0, 1, 1};
        const KindsByName only{{"source", kBig}, {"work.work", kLittle}, {"sink", kBig | kLittle}};
        internal::KindWatch watch(kinds, {{"source", kBig}, {"work", kLittle}});
        Dynamic dynamic(chain.graph,
                        {.workers = 3, .window = {.iterations = window}, .kinds = kinds, .only = only});
        CHECK(dynamic.run({.frames = 1000, .observers = {&watch}}).delivered == 1000);
        CHECK(watch.calls == 3000);
        CHECK(watch.elsewhere == 0);
        CHECK(chain.sum == 999 * 1000 / 2);
    }
}

TEST_CASE("dynamic: a task that no worker may run is refused, as are names and kinds that there are not") {
    Chain chain;
    const auto refused = [&](std::vector<policy::KindId> kinds, KindsByName only, const char* why) {
        CHECK_THROWS_WITH_AS(
            Dynamic(chain.graph, {.workers = 2, .kinds = std::move(kinds), .only = std::move(only)}),
            doctest::Contains(why), GraphError);
    };
    refused({0, 0}, {{"work", kLittle}}, "no worker is on a core that may run work.work");
    refused({}, {{"work", kLittle}}, "no worker is on a core");
    refused({0, 1}, {{"work", kLittle}, {"work.work", kBig}}, "no worker is on a core");
    refused({0, 1}, {{"wrok", kLittle}}, "'wrok'");
    refused({0, 1, 1}, {}, "kinds of cores are given for 3 workers, there are 2");
    CHECK_THROWS_AS(Dynamic(chain.graph, {.workers = 1, .kinds = {32}}), policy::PolicyError);
}

namespace {

struct Pair {
    Pair() {
        auto& source = graph.add(task("source", out<int>("y"), [n = 0](auto y) mutable { y[0] = n++; }));
        auto& steady = graph.add(task("steady", pure, in<int>("x"), out<int>("y"), turn<1>));
        auto& hurt = graph.add(task("hurt", pure, in<int>("x"), out<int>("y"), turn<2>));
        auto& sink = graph.add(task("sink", in<int>("x"), [this](auto x) { sum = 31 * sum + x[0]; }));
        graph.chain(source, steady, hurt, sink);
    }

    template <int kAdded>
    static void turn(std::span<const int> x, std::span<int> y) {
        std::uint32_t value = static_cast<std::uint32_t>(x[0]);
        for (int i = 0; i < 20'000; ++i) value = value * 1664525u + kAdded;
        y[0] = static_cast<int>(value);
    }

    Graph graph;
    std::uint32_t sum = 0;
};

const UnitOnKind& told(const RunReport& report, std::string_view unit, std::string_view kind) {
    for (const UnitOnKind& each : report.on_kinds)
        if (report.units[each.unit].name.starts_with(unit) && each.kind == kind) return each;
    throw std::logic_error("not told");
}

}  // namespace

TEST_CASE("dynamic: an emulated kind slows each task by its own ratio, and the same comes of it") {
    constexpr std::uint64_t kFrames = 400;
    Pair in_order;
    Sequence(in_order.graph).run({.frames = kFrames});
    Pair pair;
    auto emulation = std::make_shared<bridge::Emulation>();
    emulation->kinds["little"] = {"the test", 1, {{"hurt", 30}}};
    Dynamic dynamic(pair.graph, {.workers = 2,
                                 .kinds = {0, 1},
                                 .kind_names = {"big", "little"},
                                 .places = false,
                                 .emulation = emulation});
    const RunReport report = dynamic.run({.frames = kFrames});
    CHECK(pair.sum == in_order.sum);
    CHECK(report.emulated == "little by the test");
    CHECK(told(report, "hurt", "big").calls + told(report, "hurt", "little").calls == kFrames);
    CHECK(told(report, "hurt", "little").factor.value() > 3);
    CHECK(told(report, "hurt", "little").quality == "measured");
    REQUIRE(report.best);
    CHECK(report.best->cores == "1 big, 1 little");
    CHECK(report.best->bound_us > 0);
}

TEST_CASE("dynamic: on one kind of cores the bound is the work over the workers, and no kinds are told") {
    Pair pair;
    const RunReport report = Dynamic(pair.graph, {.workers = 2}).run({.frames = 200});
    CHECK(report.on_kinds.empty());
    CHECK(report.emulated.empty());
    REQUIRE(report.best);
    double work_us = 0;
    for (const double weight : report.unit_weights_us()) work_us += weight;
    CHECK(report.best->bound_us == doctest::Approx(work_us / 2).epsilon(0.01));
    CHECK(report.best->period_us >= report.best->bound_us * 0.999);
}

TEST_CASE("dynamic: without statistics there is no bound") {
    Pair pair;
    CHECK_FALSE(Dynamic(pair.graph, {.workers = 2}).run({.frames = 20, .statistics = false}).best);
}

TEST_CASE("dynamic: placed or not, known ahead or learned, the same comes of it") {
    constexpr std::uint64_t kFrames = 300;
    Pair in_order;
    Sequence(in_order.graph).run({.frames = kFrames});
    auto emulation = std::make_shared<bridge::Emulation>();
    emulation->kinds["little"] = {"the test", 1.5, {{"hurt", 4}}};
    DynamicOptions options{.workers = 3,
                           .kinds = {0, 1, 1},
                           .kind_names = {"big", "little"},
                           .known_us = {{"hurt.hurt", {20, 80}}, {"steady.steady", {20, 30}}},
                           .emulation = emulation};
    for (const bool places : {true, false}) {
        for (const bool known : {true, false}) {
            options.places = places;
            if (!known) options.known_us.clear();
            Pair pair;
            CHECK(Dynamic(pair.graph, options).run({.frames = kFrames}).delivered == kFrames);
            CHECK(pair.sum == in_order.sum);
        }
    }
}

TEST_CASE("dynamic: a big worker gets more of what hurts a little one") {
    Pair pair;
    auto emulation = std::make_shared<bridge::Emulation>();
    emulation->kinds["little"] = {"the test", 1, {{"hurt", 30}}};
    const RunReport report =
        Dynamic(pair.graph,
                {.workers = 2, .kinds = {0, 1}, .kind_names = {"big", "little"}, .emulation = emulation})
            .run({.frames = 2000});
    CHECK(told(report, "hurt", "big").calls > told(report, "hurt", "little").calls);
}

}  // namespace tidemill
