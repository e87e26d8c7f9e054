// Modules with state of their own; a task that ends the stream, and one that lets only some frames through.

#include <fmt/core.h>

#include "tidemill/tidemill.hpp"

using namespace tidemill;

class Counter : public Module {
  public:
    explicit Counter(int last) : last_(last) {}

    Out<int> value = out<int>("value");
    Task next = task("next", &Counter::count);

  private:
    Flow count(Frame f) {
        if (n_ > last_) return Flow::stop;
        f[value][0] = n_++;
        return Flow::ok;
    }

    int last_;
    int n_ = 2;
};

/// Ends the frames whose number has a smaller prime factor. Frames behind it are numbered anew.
class Primes : public Module {
  public:
    In<int> number = in<int>("number");
    Out<int> prime = out<int>("prime");
    Task sieve = task("sieve", &Primes::let_through, may_skip);

  private:
    Flow let_through(Frame f) {
        const int n = f[number][0];
        for (const int p : found_) {
            if (n % p == 0) return Flow::skip;
        }
        found_.push_back(n);
        f[prime][0] = n;
        return Flow::ok;
    }

    std::vector<int> found_;
};

class Printer : public Module {
  public:
    In<int> number = in<int>("number");
    Task print = task("print", &Printer::print_number);

  private:
    void print_number(Frame f) { fmt::print("prime {} is {}\n", f.number(), f[number][0]); }
};

int main() {
    Graph graph;
    auto& counter = graph.add<Counter>(30);
    auto& primes = graph.add<Primes>();
    auto& printer = graph.add<Printer>();
    graph.bind(counter.value, primes.number);
    graph.bind(primes.prime, printer.number);
    const RunReport report = Sequence(graph).run();
    fmt::print("{} numbers, {} primes\n", report.frames, report.delivered);
}
