#include <fmt/core.h>

#include "tidemill/tidemill.hpp"

using namespace tidemill;

// Lets every n-th number through.
struct Every : Module {
    explicit Every(int which) : n(which) {}
    In<int> x = in<int>("x");
    Out<int> y = out<int>("y");
    Task pick = task("pick", &Every::run, may_skip);
    Flow run(Frame f) {
        f[y][0] = f[x][0];
        return f[x][0] % n == 0 ? Flow::ok : Flow::skip;
    }
    int n;
};

struct Print : Module {
    explicit Print(const char* what) : name(what) {}
    In<int> x = in<int>("x");
    Task print = task("print", &Print::run);
    void run(Frame f) { fmt::print("{}, frame {}: {}\n", name, f.number(), f[x][0]); }
    const char* name;
};

int main() {
    Graph g;
    auto& source = g.add(task("source", out<int>("x"), [n = 0](auto x) mutable { x[0] = ++n; }));
    auto& threes = g.add<Every>(3);
    auto& fours = g.add<Every>(4);
    auto& left = g.add<Print>("threes");
    auto& right = g.add<Print>("fours");
    g.bind(source["x"], threes["x"]);
    g.bind(source["x"], fours["x"]);
    g.bind(threes.y, left.x);
    g.bind(fours.y, right.x);
    Sequence(g).run({.frames = 12});

    auto& sum = g.add(task("sum", in<int>("a"), in<int>("b"), [](auto, auto) {}));
    g.bind(threes["y"], sum["a"]);
    g.bind(fours["y"], sum["b"]);
    try {
        Sequence{g};
    } catch (const GraphError& error) {
        fmt::print("{}\n", error.what());
    }
}
