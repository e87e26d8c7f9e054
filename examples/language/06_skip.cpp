#include <fmt/core.h>

#include "tidemill/tidemill.hpp"

using namespace tidemill;

class Printer : public Module {
  public:
    explicit Printer(const char* what) : what_(what) {}
    In<int> value = in<int>("value");
    Task show = task("show", &Printer::print);

  private:
    void print(Frame f) { fmt::print("{} frame {}: {}\n", what_, f.number(), f[value][0]); }
    const char* what_;
};

template <class Word>
void keep_even(Word word, const char* what) {
    Graph g;
    auto& source = g.add(task("source", out<int>("x"), [n = 0](auto x) mutable { x[0] = n++; }));
    auto& even = g.add(task("even", word, may_skip, in<int>("x"), out<int>("y"), [](auto x, auto y) {
        y[0] = x[0];
        return x[0] % 2 == 0 ? Flow::ok : Flow::skip;
    }));
    g.chain(source, even, g.add<Printer>(what));
    Sequence(g).run({.frames = 5});
}

int main() {
    keep_even(pure, "pure");
    keep_even(sequential, "sequential");
}
