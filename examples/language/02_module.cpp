#include <fmt/core.h>

#include "tidemill/tidemill.hpp"

using namespace tidemill;

class Counter : public Module {
  public:
    explicit Counter(int end) : end_(end) {}

    Out<int> value = out<int>("value");
    Task next = task("next", &Counter::count);

  private:
    Flow count(Frame f) {
        if (n_ == end_) return Flow::stop;
        f[value][0] = n_++;
        return Flow::ok;
    }
    int end_;
    int n_ = 0;
};

class Printer : public Module {
  public:
    In<int> value = in<int>("value");
    Task show = task("show", &Printer::print);

  private:
    void print(Frame f) { fmt::print("frame {} holds {}\n", f.number(), f[value][0]); }
};

int main() {
    Graph g;
    auto& counter = g.add<Counter>(3);
    auto& printer = g.add<Printer>();
    g.bind(counter.value, printer.value);
    Sequence(g).run();
}
