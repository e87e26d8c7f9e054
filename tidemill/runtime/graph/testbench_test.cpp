#include "tidemill/runtime/graph/testbench.hpp"

#include <cmath>
#include <complex>
#include <numeric>
#include <vector>

#include <doctest/doctest.h>

#include "tidemill/runtime/graph/arena.hpp"
#include "tidemill/runtime/graph/control.hpp"

using namespace tidemill;

namespace {

using Iq = std::complex<float>;

/// Signs of quadrature symbols, scaled.
class SignDemapper : public Module {
  public:
    explicit SignDemapper(std::size_t symbols_per_frame)
        : symbols(in<Iq>("symbols", symbols_per_frame)),
          scale(in<float>("scale")),
          llrs(out<float>("llrs", 2 * symbols_per_frame)),
          demodulate(task("demodulate", &SignDemapper::run, pure)) {}

    In<Iq> symbols;
    In<float> scale;
    Out<float> llrs;
    Task demodulate;

  private:
    void run(Frame f) const {
        for (std::size_t i = 0; i < f[symbols].size(); ++i) {
            f[llrs][2 * i] = f[scale][0] * f[symbols][i].real();
            f[llrs][2 * i + 1] = f[scale][0] * f[symbols][i].imag();
        }
    }
};

/// Two tasks with state between them; the second gives each sum as often as it was pushed.
class Accumulator : public Module {
  public:
    In<int> value = in<int>("value");
    Task push = task("push", &Accumulator::add, may_skip);
    Out<int> sum = out<int>("sum");
    Out<std::uint64_t> number = out<std::uint64_t>("number");
    Task pop = task("pop", &Accumulator::give, may_repeat);

  private:
    Flow add(Frame f) {
        if (f[value][0] < 0) return Flow::skip;
        sum_ += f[value][0];
        ++left_;
        return Flow::ok;
    }
    Flow give(Frame f) {
        if (f.stopping()) return Flow::stop;
        f[sum][0] = sum_;
        f[number][0] = f.number();
        return --left_ > 0 ? Flow::again : Flow::ok;
    }
    int sum_ = 0;
    int left_ = 0;
};

}  // namespace

TEST_CASE("a module is fed, stepped and read") {
    Testbench<SignDemapper> b{2};
    b.feed(b->scale, {2}).feed(b->symbols, {{0.5f, -1}, {3, 4}}).step();
    const std::span<const float> llrs = b.read(b->llrs);
    CHECK(std::vector<float>(llrs.begin(), llrs.end()) == std::vector<float>{1, -2, 6, 8});
}

TEST_CASE("an input keeps what it was fed; what was not given is zero") {
    Testbench<SignDemapper> b{4};
    std::vector<Iq> symbols(4, Iq{1, 1});
    b.feed(b->scale, {3}).feed(b->symbols, symbols);
    b.step();
    CHECK(b.read(b->llrs)[7] == 3);
    b.feed(b->symbols, {{5, 5}}).step();
    CHECK(b.read(b->llrs)[1] == 15);
    CHECK(b.read(b->llrs)[2] == 0);
}

TEST_CASE("every socket is aligned for the widest vectors") {
    Testbench<SignDemapper> b{3};
    b.feed(b->scale, {1}).feed(b->symbols, {}).step();
    CHECK(reinterpret_cast<std::uintptr_t>(b.read(b->llrs).data()) % kAlignment == 0);
}

TEST_CASE("tasks of one module are stepped by member or by name, and their flows are told") {
    Testbench<Accumulator> b;
    CHECK(b.feed(b->value, {3}).step(b->push) == Flow::ok);
    CHECK(b.feed(b->value, {-1}).step("push") == Flow::skip);
    CHECK(b.feed(b->value, {4}).step("push") == Flow::ok);
    CHECK(b.step(b->pop) == Flow::again);
    CHECK(b.read(b->sum)[0] == 7);
    CHECK(b.step("pop") == Flow::ok);
    CHECK(b.ask_to_stop().step("pop") == Flow::stop);
}

TEST_CASE("frames count per task; a repetition keeps its number") {
    Testbench<Accumulator> b;
    b.feed(b->value, {1}).at_frame(40);
    for (int i = 0; i < 3; ++i) b.step("push");
    std::vector<std::uint64_t> numbers;
    for (int i = 0; i < 4; ++i) {
        b.step("pop");
        numbers.push_back(b.read<std::uint64_t>("number")[0]);
    }
    CHECK(numbers == std::vector<std::uint64_t>{40, 40, 40, 41});
}

TEST_CASE("a plain callable has a testbench too, and its forward begins anew on every step") {
    Testbench b{task("double", forward<int>("x", 3), out<int>("total"), [](auto x, auto total) {
        for (int& each : x) each *= 2;
        total[0] = std::accumulate(x.begin(), x.end(), 0);
    })};
    b.feed<int>("x", {1, 2, 3});
    for (int i = 0; i < 2; ++i) {
        CHECK(b.step() == Flow::ok);
        CHECK(b.read<int>("x")[2] == 6);
        CHECK(b.read<int>("total")[0] == 12);
    }
}

TEST_CASE("outputs begin with what no task would count on, so that one that adds to them shows") {
    Testbench b{task("sum", in<int>("x"), out<int>("y"), out<float>("z"),
                     [](auto x, auto y, auto) { y[0] += x[0]; })};
    b.feed<int>("x", {3}).step();
    CHECK(b.read<int>("y")[0] != 3);
    CHECK(std::isnan(b.read<float>("z")[0]));
}

TEST_CASE("what a test gets wrong is told with the names of both ends") {
    Testbench<SignDemapper> b{2};
    b.feed(b->scale, {1});
    CHECK_THROWS_WITH(b.step(),
                      "sign_demapper.symbols was not fed: feed it before the step of "
                      "sign_demapper.demodulate");
    CHECK_THROWS_WITH(b.feed(b->scale, {1, 2}), "2 values -> sign_demapper.scale (float32 x 1): too many");
    CHECK_THROWS_WITH(b.feed<int>("scale", {1}), "sign_demapper.scale carries float32, not int32");
    CHECK_THROWS_WITH(b.feed<float>("llrs", {1}), "sign_demapper.llrs is an output: it is read, not fed");
    CHECK_THROWS_WITH(b.read<float>("gain"), doctest::Contains("has no socket 'gain'"));
    CHECK_THROWS_WITH(b.step("modulate"), "module 'sign_demapper' has no task 'modulate'");
    CHECK_THROWS_WITH(Testbench<Accumulator>{}.step(), doctest::Contains("has 2 tasks: say which one"));
    const Testbench<SignDemapper> other{2};
    CHECK_THROWS_WITH(b.feed(other->scale, {1}), doctest::Contains("not of another object"));
}

TEST_CASE("an input with a default need not be fed") {
    Testbench b{task("gain", in<int>("x", 3), in<int>("gain", 3, or_else(2)),
                     in<int>("shift", upto(4), or_else(std::vector{1, 2})), out<int>("y", 3),
                     [](auto x, auto gain, auto shift, auto y) {
                         for (std::size_t i = 0; i < y.size(); ++i)
                             y[i] = gain[i] * x[i] + std::accumulate(shift.begin(), shift.end(), 0);
                     })};
    b.feed<int>("x", {1, 2, 3}).step();
    CHECK(b.read<int>("y")[2] == 9);
    b.feed<int>("gain", {0, 0, 1}).feed<int>("shift", {}).step();
    CHECK(b.read<int>("y")[2] == 3);
}

TEST_CASE("a flow that was not promised is an error, as it is in a run") {
    for (const Flow flow : {Flow::skip, Flow::again, Flow::stop}) {
        Testbench b{task("gate", pure, in<int>("x"), [flow](auto) { return flow; })};
        b.feed<int>("x", {1});
        CHECK_THROWS_WITH_AS(b.step(), doctest::Contains("gate.gate returned"), GraphError);
    }
}

TEST_CASE("what executors carry out themselves has no bench") {
    Testbench<Switch<int>> b{"branch", std::uint8_t{2}};
    CHECK_THROWS_WITH(b.step("commute"), doctest::Contains("branch.commute is carried out by executors"));
}
