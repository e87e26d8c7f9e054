#include "tidemill/run/dynamic/dynamic_units.hpp"

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

}  // namespace tidemill
