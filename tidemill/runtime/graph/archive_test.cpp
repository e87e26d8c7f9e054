#include "tidemill/runtime/graph/archive.hpp"

#include <deque>
#include <optional>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include "tidemill/runtime/graph/delay.hpp"
#include "tidemill/runtime/graph/graph.hpp"
#include "tidemill/runtime/graph/graph_error.hpp"
#include "tidemill/runtime/graph/window.hpp"

using namespace tidemill;

namespace {

/// Knows no archive.
struct Filter {
    std::vector<float> taps;
    std::uint32_t at = 0;

    template <class Archive>
    void keep(Archive& archive) {
        archive("taps", taps)("at", at);
    }
    bool operator==(const Filter&) const = default;
};

struct Everything {
    int number = 0;
    bool truth = false;
    std::string text;
    std::deque<double> past;
    std::vector<bool> flags;
    std::vector<std::string> names;
    std::optional<Filter> maybe;
    std::vector<Filter> filters;

    void keep(Archive& archive) {
        archive("number", number)("truth", truth)("text", text)("past", past)("flags", flags)("names", names);
        archive("maybe", maybe)("filters", filters);
    }
    bool operator==(const Everything&) const = default;
};

template <class T>
std::vector<std::byte> kept(T& object) {
    Archive archive;
    object.keep(archive);
    return archive.bytes();
}

template <class T>
void give_back(std::vector<std::byte> bytes, T& object) {
    Archive archive(bytes);
    object.keep(archive);
    archive.check_whole();
}

}  // namespace

TEST_CASE("what was kept is given back, whatever it is made of") {
    Everything before{-3, true, "ab", {1.5, 2.5}, {true, false, true}, {"x", "", "yz"}, Filter{{1, 2}, 7},
                      {}};
    before.filters = {{{}, 1}, {{3}, 2}};
    Everything after{9, false, "longer than that", {9, 9, 9}, {}, {"q"}, {}, {{{8}, 8}}};
    give_back(kept(before), after);
    CHECK(after == before);
    before.maybe.reset();
    give_back(kept(before), after);
    CHECK(!after.maybe);
}

TEST_CASE("another name, another size and less or more than was kept are refused by name") {
    Filter filter{{1, 2, 3}, 5};
    const std::vector<std::byte> bytes = kept(filter);
    Archive renamed(bytes);
    CHECK_THROWS_WITH_AS(renamed("tabs", filter.taps), "'taps' was kept where 'tabs' is wanted", GraphError);
    Archive wider(bytes);
    std::vector<double> doubles;
    CHECK_THROWS_WITH_AS(wider("taps", doubles), "'taps' was of 4 bytes, here it is of 8", GraphError);
    Archive part(bytes);
    CHECK_THROWS_WITH_AS((part("taps", filter.taps), part.check_whole()),
                         "26 bytes more were kept than are wanted", GraphError);
    Archive changed(bytes);
    CHECK_THROWS_AS(changed.expect("taps", 3.0f), GraphError);
}

TEST_CASE("something that is expected must be as it was") {
    Archive keeping;
    keeping.expect("rate", 48000);
    Archive same(keeping.bytes());
    same.expect("rate", 48000);
    Archive other(keeping.bytes());
    CHECK_THROWS_WITH_AS(other.expect("rate", 96000),
                         "'rate' differs from the checkpoint (96000, was 48000): use the original options",
                         GraphError);
}

TEST_CASE("bytes that are cut off or changed are refused, or given back, and nothing else happens") {
    Everything before{-3,        true, "ab", {1.5, 2.5}, {true, false, true}, {"x", "yz"}, Filter{{1, 2}, 7},
                      {{{3}, 2}}};
    const std::vector<std::byte> bytes = kept(before);
    const auto hurt = [&](std::vector<std::byte> hurt_bytes) {
        Everything after;
        try {
            give_back(hurt_bytes, after);
        } catch (const GraphError&) {
        }
    };
    for (std::size_t size = 0; size < bytes.size(); ++size)
        hurt({bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size)});
    rc::check("any byte may be another", [&] {
        std::vector<std::byte> changed = bytes;
        const auto at = *rc::gen::inRange<std::size_t>(0, bytes.size());
        changed[at] = static_cast<std::byte>(*rc::gen::arbitrary<std::uint8_t>());
        hurt(changed);
    });
}

TEST_CASE("delays and windows keep what they hold, and refuse what was kept by larger ones") {
    Delay<int> delay("delay", 1, 2, {5, 6});
    Delay<int> longer("delay", 1, 3);
    CHECK_THROWS_AS(give_back(kept(longer), delay), GraphError);
    Window<float> window("window", 4, 2, {1, 2});
    Window<float> wider("window", 4, 3);
    CHECK_THROWS_AS(give_back(kept(wider), window), GraphError);
    const std::vector<std::byte> first = kept(delay);
    give_back(first, delay);
    CHECK(kept(delay) == first);
}

TEST_CASE("a graph names the modules that may hold something and do not keep it") {
    struct Silent : Module {
        Out<int> y = out<int>("y");
        Task make = task("make", &Silent::run);
        void run(Frame f) { f[y][0] = n_++; }
        int n_ = 0;
    };
    struct Keeps : Module {
        In<int> x = in<int>("x");
        Out<int> y = out<int>("y");
        Task add = task("add", &Keeps::run);
        void run(Frame f) { f[y][0] = sum_ += f[x][0]; }
        void keep(Archive& archive) override { archive("sum", sum_); }
        void reset() override { sum_ = 0; }
        int sum_ = 0;
    };
    Graph g;
    auto& silent = g.add<Silent>();
    auto& keeps = g.add<Keeps>();
    auto& empty = g.add(task("double", in<int>("x"), out<int>("y"), [](auto x, auto y) { y[0] = 2 * x[0]; }));
    auto& print = g.add(task("print", in<int>("x"), [](auto) {}));
    auto& sum = g.add(task("sum", in<int>("x"), [total = 0](auto x) mutable { total += x[0]; }));
    g.chain(silent, keeps, empty);
    g.bind(empty["y"], print["x"]);
    g.bind(empty["y"], sum["x"]);
    CHECK(g.not_kept() == std::vector<std::string>{"silent", "sum"});
    CHECK(g.reset() == std::vector<std::string>{"silent", "sum"});
}
