#include <algorithm>
#include <vector>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "tidemill/tidemill.hpp"

using namespace tidemill;

// Gathers four numbers to a frame; at the end, what is left.
struct Gather : Module {
    In<int> x = in<int>("x");
    Out<int> y = out<int>("y", 4);
    Out<std::size_t> count = out<std::size_t>("count");
    Task gather = task("gather", &Gather::run, may_skip, at_end);

    Flow run(Frame f) {
        held.insert(held.end(), f[x].begin(), f[x].end());
        if (held.size() < 4 && !f.at_end()) return Flow::skip;
        if (held.empty()) return Flow::skip;
        std::ranges::copy(held, f[y].begin());
        f[count][0] = held.size();
        held.clear();
        return Flow::ok;
    }
    std::vector<int> held;
};

int main() {
    Graph g;
    auto& source = g.add(task("source", out<int>("x"), [n = 0](auto x) mutable {
        x[0] = ++n;
        return n > 10 ? Flow::stop : Flow::ok;
    }));
    auto& gather = g.add<Gather>();
    auto& print = g.add(
        task("print", sequential, at_end, in<int>("y", 4), in<std::size_t>("count"), [](auto y, auto count) {
            if (y.empty()) return fmt::print("that was all\n");
            fmt::print("{}\n", y.first(count[0]));
        }));
    g.bind(source["x"], gather["x"]);
    g.bind(gather["y"], print["y"]);
    g.bind(gather["count"], print["count"]);
    Pipeline(g, thread_per_task(structure_of(g))).run();
}
