#include <fmt/core.h>

#include "tidemill/tidemill.hpp"

using namespace tidemill;

class Countdown : public Module {
  public:
    In<int> from = in<int>("from");
    Out<int> value = out<int>("value");
    Task next = task("next", &Countdown::run, may_skip, may_repeat);

  private:
    Flow run(Frame f) {
        if (left_ == 0) left_ = f[from][0];
        if (left_ == 0) return Flow::skip;
        f[value][0] = left_--;
        return left_ > 0 ? Flow::again : Flow::ok;
    }
    int left_ = 0;
};

class Printer : public Module {
  public:
    In<int> from = in<int>("from");
    In<int> value = in<int>("value");
    Task show = task("show", &Printer::print);

  private:
    void print(Frame f) { fmt::print("frame {}: {} of {}\n", f.number(), f[value][0], f[from][0]); }
};

int main() {
    Graph g;
    auto& source = g.add(task("source", out<int>("x"), [n = 3](auto x) mutable { x[0] = --n; }));
    auto& countdown = g.add<Countdown>();
    auto& printer = g.add<Printer>();
    g.bind(source["x"], countdown.from);
    g.bind(source["x"], printer.from);
    g.bind(countdown.value, printer.value);
    Sequence(g).run({.frames = 3});
}
