#include "tidemill/lab/sim/worst_cases.hpp"

#include <fmt/format.h>

namespace tidemill::worst_case {

namespace {

// A graph under construction, task types in the order of creation.
class Builder {
  public:
    Builder(std::string name, double unit_us) : unit_us_(unit_us) { graph_.name = std::move(name); }

    std::size_t type(std::string name, double units, bool stateful, std::uint64_t firings = 1) {
        graph_.types.push_back({std::move(name), units * unit_us_, firings, stateful});
        return graph_.types.size() - 1;
    }

    // The items of one iteration are as many as fit both sides.
    void edge(std::size_t from, std::size_t to) {
        const std::uint64_t push = graph_.types[to].firings;
        const std::uint64_t pop = graph_.types[from].firings;
        const bool equal = push == pop;
        graph_.edges.push_back({from, to, equal ? 1 : push, equal ? 1 : pop, equal ? 1 : pop});
    }

    void edge_to_next_iteration(std::size_t from, std::size_t to) {
        graph_.edges.push_back({from, to, 1, 1, 1, 1});
    }

    StreamGraph graph() && { return std::move(graph_); }

  private:
    double unit_us_;
    StreamGraph graph_;
};

// Task types b and c of Fig. 4.6, which wait for `a`; all of them in the order of creation.
std::vector<std::size_t> add_branches(Builder& builder, std::size_t a, unsigned p, bool stateful,
                                      unsigned parts) {
    std::vector<std::size_t> branches;
    for (const bool is_b : {true, false}) {
        for (unsigned i = 1; i < p; ++i) {
            const double units = (is_b ? p - 1.0 : 1.0) / p / parts;
            branches.push_back(
                builder.type(fmt::format("{}{}", is_b ? 'b' : 'c', i), units, stateful, parts));
            builder.edge(a, branches.back());
        }
    }
    return branches;
}

}  // namespace

StreamGraph exhaustion(unsigned p, bool between, double unit_us) {
    Builder builder("fig4.6a", unit_us);
    const std::size_t a = builder.type("a", 1, !between);
    add_branches(builder, a, p, false, 1);
    if (between) {
        const std::size_t zero = builder.type("zero", 0, false);
        builder.edge(a, zero);
        builder.edge_to_next_iteration(zero, a);
    }
    return std::move(builder).graph();
}

StreamGraph exhaustion_in_parts(unsigned p, unsigned parts, double unit_us) {
    Builder builder("fig4.6b", unit_us);
    const std::size_t a = builder.type("a", 1, true);
    add_branches(builder, a, p, true, parts);
    return std::move(builder).graph();
}

StreamGraph exhaustion_with_children(unsigned p, double unit_us) {
    Builder builder("fig4.6a-children", unit_us);
    const std::size_t a = builder.type("a", 1, true);
    for (const std::size_t branch : add_branches(builder, a, p, false, 1)) {
        builder.edge(branch, builder.type(fmt::format("child{}", branch), 0, false, 2 * p));
    }
    return std::move(builder).graph();
}

StreamGraph slow_end(unsigned p, unsigned f, double unit_us) {
    Builder builder("fig4.7a", unit_us);
    std::size_t before = 0;
    for (unsigned i = 0; i < p; ++i) {
        const std::size_t row = builder.type(fmt::format("row{}", i + 1), f * (p - 1.0) / p, true);
        if (i > 0) builder.edge(before, row);
        before = row;
    }
    builder.edge(before, builder.type("last", 1, true, f));
    return std::move(builder).graph();
}

StreamGraph slow_join(unsigned p, unsigned f, double unit_us) {
    Builder builder("fig4.7b", unit_us);
    for (unsigned i = 0; i < p; ++i) builder.type(fmt::format("row{}", i + 1), (p - 1.0) / p, true, f);
    const std::size_t last = builder.type("last", f, true);
    for (unsigned i = 0; i < p; ++i) builder.edge(i, last);
    return std::move(builder).graph();
}

StreamGraph slow_pipeline(unsigned p, double unit_us) {
    Builder builder("fig4.7d", unit_us);
    for (unsigned i = 0; i <= p; ++i) {
        builder.type(fmt::format("stage{}", i + 1), i < p ? (p - 1.0) / p : 1, true);
        if (i > 0) builder.edge(i - 1, i);
    }
    return std::move(builder).graph();
}

StreamGraph long_pipeline(unsigned p, double unit_us) {
    constexpr double kALittle = 1.0 / 1024;
    Builder builder("fifo-pipeline", unit_us);
    for (unsigned i = 0; i <= p * (p - 1); ++i) {
        builder.type(fmt::format("stage{}", i + 1), i < p * (p - 1) ? 1 : p + kALittle, true);
        if (i > 0) builder.edge(i - 1, i);
    }
    return std::move(builder).graph();
}

StreamGraph stolen_type(unsigned p, double unit_us) {
    Builder builder("fig4.8", unit_us);
    const std::size_t a = builder.type("a", p - 2.0, false);
    const std::size_t b = builder.type("b", 1, true);
    const std::size_t c = builder.type("c", 1, true);
    builder.edge(a, b);
    builder.edge(b, c);
    return std::move(builder).graph();
}

StreamGraph exhaustion_joined(unsigned p, double unit_us) {
    Builder builder("fig4.11", unit_us);
    const std::size_t a = builder.type("a", 1, true);
    const std::vector<std::size_t> branches = add_branches(builder, a, p, false, 1);
    const std::size_t d = builder.type("d", 0, false);
    for (const std::size_t branch : branches) builder.edge(branch, d);
    return std::move(builder).graph();
}

StreamGraph exhaustion_behind(unsigned p, double unit_us) {
    constexpr double kShort = 0.02;
    Builder builder("fig4.12", unit_us);
    const std::size_t a = builder.type("a", 1, true);
    const std::size_t b = builder.type("b", kShort, false);
    builder.edge(a, b);
    for (const char name : {'c', 'd'}) {
        for (unsigned i = 1; i < p; ++i) {
            builder.edge(
                b, builder.type(fmt::format("{}{}", name, i), (name == 'c' ? p - 1.0 : 1.0) / p, false));
        }
    }
    return std::move(builder).graph();
}

}  // namespace tidemill::worst_case
