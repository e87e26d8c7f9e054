#include <fmt/core.h>

#include "tidemill/tidemill.hpp"

using namespace tidemill;

class Energy : public Module {
  public:
    In<int> x = in<int>("x");
    Out<int> y = out<int>("y");
    Task measure = task("measure", &Energy::run, cloned);
    long total = 0;
    void reset_counters() override { total = 0; }
    void merge(Module& clone) override { total += static_cast<Energy&>(clone).total; }

  private:
    void run(Frame f) {
        total += f[x][0] * f[x][0];
        f[y][0] = f[x][0];
    }
};

int main() {
    Graph g;
    auto& source = g.add(task("source", out<int>("x"), [n = 0](auto x) mutable { x[0] = ++n; }));
    auto& negate = g.add(task("negate", in<int>("x"), out<int>("y"), [](auto x, auto y) { y[0] = -x[0]; }));
    auto& energy = g.add<Energy>();
    auto& print = g.add(task("print", in<int>("x"), [](auto x) { fmt::print("{} ", x[0]); }));
    g.chain(source, negate, energy, print);

    const Schedule schedule{.stages = {{.first_task = 0, .task_count = 1, .threads = 1, .core_kind = "big"},
                                       {.first_task = 1, .task_count = 2, .threads = 3, .core_kind = "big"},
                                       {.first_task = 3, .task_count = 1, .threads = 1, .core_kind = "big"}}};
    Pipeline(g, schedule).run({.frames = 10});
    fmt::print("energy {}\n", energy.total);
}
