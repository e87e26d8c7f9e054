#include <doctest/doctest.h>

#include "tidemill/policy/policy_error.hpp"
#include "tidemill/run/dynamic/dynamic.hpp"
#include "tidemill/run/dynamic/internal/kind_watch.hpp"

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

}  // namespace tidemill
