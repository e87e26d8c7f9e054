#include "tidemill/runtime/dynamic/dynamic_units.hpp"

#include <algorithm>
#include <random>

#include <doctest/doctest.h>

namespace tidemill {
namespace {

struct Compiled {
    explicit Compiled(const Graph& graph)
        : structure(structure_of(graph)),
          plan(compile_apart(graph, structure)),
          units(dynamic_units_of(graph, structure, plan)) {}

    const DynamicUnit& named(const std::string& name) const {
        for (const DynamicUnit& unit : units) {
            if (unit.name.starts_with(name)) return unit;
        }
        throw std::out_of_range(name);
    }
    /// Whether a unit of one task reads what another one makes.
    bool reads(const Graph& graph, std::size_t reader, std::size_t maker) const {
        const std::uint32_t by = structure.order[structure.units[reader].tasks.front()].id.module;
        const std::uint32_t of = structure.order[structure.units[maker].tasks.front()].id.module;
        for (std::uint32_t s = 0; s < graph.module(by).sockets().size(); ++s) {
            const auto* from = graph.source_of(by, s);
            if (from && from->module == &graph.module(of)) return true;
        }
        return false;
    }
    std::vector<std::string> before(const std::string& name) const {
        std::vector<std::string> names;
        for (const std::uint32_t p : named(name).predecessors) {
            names.push_back(units[p].name.substr(0, units[p].name.find('.')));
        }
        std::sort(names.begin(), names.end());
        return names;
    }

    Structure structure;
    Plan plan;
    std::vector<DynamicUnit> units;
};

using Names = std::vector<std::string>;

auto source() {
    return task("source", out<int>("x"), [](auto x) { x[0] = 1; });
}
auto plus_one(const char* name) {
    return task(name, in<int>("x"), out<int>("y"), [](auto x, auto y) { y[0] = x[0] + 1; });
}
auto sink(const char* name) {
    return task(name, in<int>("x"), [](auto) {});
}

}  // namespace

TEST_CASE("two pure tasks that read the same output do not wait for each other") {
    Graph g;
    auto& from = g.add(source());
    auto& left = g.add(plus_one("left"));
    auto& right = g.add(plus_one("right"));
    auto& both = g.add(task("both", in<int>("a"), in<int>("b"), [](auto, auto) {}));
    g.bind(from["x"], left["x"]);
    g.bind(from["x"], right["x"]);
    g.bind(left["y"], both["a"]);
    g.bind(right["y"], both["b"]);
    const Compiled compiled(g);
    CHECK(compiled.before("source") == Names{});
    CHECK(compiled.before("left") == Names{"source"});
    CHECK(compiled.before("right") == Names{"source"});
    CHECK(compiled.before("both") == Names{"left", "right"});
}

TEST_CASE("sequential tasks keep their order even where no data ties them") {
    Graph g;
    auto& a = g.add(source());
    auto& b = g.add(task("other", out<int>("x"), [](auto x) { x[0] = 2; }));
    auto& c = g.add(sink("c"));
    auto& d = g.add(sink("d"));
    g.bind(a["x"], c["x"]);
    g.bind(b["x"], d["x"]);
    const Compiled compiled(g);
    std::size_t without = 0;
    for (const DynamicUnit& unit : compiled.units) {
        without += unit.predecessors.empty();
        CHECK(unit.predecessors.size() <= 1);
    }
    CHECK(without == 1);
}

TEST_CASE("a forward waits for those who read the data that it changes") {
    Graph g;
    auto& from = g.add(source());
    auto& reader = g.add(plus_one("reader"));
    auto& change = g.add(task("change", forward<int>("x"), [](auto x) { x[0] *= 2; }));
    auto& end = g.add(task("end", in<int>("a"), in<int>("b"), [](auto, auto) {}));
    g.bind(from["x"], reader["x"]);
    g.bind(from["x"], change["x"]);
    g.bind(reader["y"], end["a"]);
    g.bind(change["x"], end["b"]);
    const Compiled compiled(g);
    const bool in_place = compiled.plan.steps[2].before.empty();
    CHECK(compiled.before("change") == (in_place ? Names{"reader"} : Names{"source"}));
}

TEST_CASE("the task that ends a segment waits for all of it, and the next segment begins without it") {
    Graph g;
    auto& from = g.add(source());
    auto& aside = g.add(plus_one("aside"));
    auto& thin = g.add(task("thin", may_skip, in<int>("x"), out<int>("y"), [](auto x, auto y) {
        y[0] = x[0];
        return Flow::skip;
    }));
    auto& end = g.add(sink("end"));
    g.bind(from["x"], aside["x"]);
    g.bind(from["x"], thin["x"]);
    g.bind(thin["y"], end["x"]);
    const Compiled compiled(g);
    CHECK(compiled.before("thin") == Names{"aside"});
    CHECK(compiled.named("thin").emits);
    CHECK(compiled.named("end").segment == 1);
    CHECK(compiled.before("end") == Names{});
}

// All that each unit waits for, through others or not, by the definition: it is compared with all before it.
TEST_CASE("units wait for the same, through others, as if each were compared with all before it") {
    for (unsigned seed = 0; seed < 200; ++seed) {
        CAPTURE(seed);
        std::mt19937 random(seed);
        Graph g;
        std::vector<SocketRef> outputs{g.add(source())["x"]};
        const auto some = [&] { return outputs[random() % outputs.size()]; };
        for (int i = 0; i < 12; ++i) {
            if (random() % 4 == 0) {
                auto& change = g.add(task("change", forward<int>("x"), [](auto x) { x[0] *= 2; }));
                g.bind(some(), change["x"]);
                outputs.push_back(change["x"]);
            } else {
                auto& sum = g.add(task("sum", pure, in<int>("a"), in<int>("b"), out<int>("y"),
                                       [](auto a, auto b, auto y) { y[0] = a[0] + b[0]; }));
                g.bind(some(), sum["a"]);
                g.bind(some(), sum["b"]);
                outputs.push_back(sum["y"]);
            }
        }
        const Compiled compiled(g);
        const std::size_t count = compiled.units.size();
        std::vector<std::vector<bool>> waits(count, std::vector<bool>(count, false));
        for (std::size_t k = 0; k < count; ++k) {
            for (const std::uint32_t p : compiled.units[k].predecessors) {
                CHECK(!waits[k][p]);  // not through another one
                waits[k][p] = true;
                for (std::size_t q = 0; q < p; ++q) waits[k][q] = waits[k][q] || waits[p][q];
            }
            for (std::size_t p = 0; p < k; ++p)
                if (compiled.reads(g, k, p)) CHECK(waits[k][p]);
        }
    }
}

}  // namespace tidemill
