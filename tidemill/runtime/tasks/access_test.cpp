#include "tidemill/runtime/tasks/access.hpp"

#include <array>
#include <atomic>
#include <functional>
#include <latch>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include "tidemill/runtime/tasks/tasks.hpp"
#include "tidemill/scheduling/dynamic/policy.hpp"

namespace tidemill {
namespace {

// A type that is no range, so that it is one piece whatever its size.
struct Text {
    std::string letters;

    bool operator==(const Text&) const = default;
};

void append(Text& to, const Text& more) {
    to.letters += more.letters;
}

constexpr std::size_t kCells = 3;

// All that tasks of a random program work on; and the same by a model in order.
struct Memory {
    std::array<std::uint64_t, kCells> cells{};
    double sum = 0.1;
    Text text{};
    std::uint64_t renamed = 0;

    bool operator==(const Memory&) const = default;
};

struct Step {
    int kind;
    std::size_t cell;
    std::size_t other;
    std::uint64_t seed;
};
constexpr int kKinds = 9;

Step random_step() {
    return {*rc::gen::inRange(0, kKinds), *rc::gen::inRange<std::size_t>(0, kCells),
            *rc::gen::inRange<std::size_t>(0, kCells), *rc::gen::inRange<std::uint64_t>(1, 100)};
}

TasksOptions random_options() {
    TasksOptions options;
    const auto policies = policy::policies();
    options.workers = *rc::gen::inRange<std::size_t>(1, 5);
    options.policy = policies[*rc::gen::inRange<std::size_t>(0, policies.size())].name;
    options.window.tasks = *rc::gen::inRange<std::uint64_t>(1, 64);
    options.program_helps = *rc::gen::arbitrary<bool>();
    options.bundle = std::chrono::nanoseconds(*rc::gen::element(0, 2000));
    return options;
}

std::uint64_t changed(std::uint64_t cell, std::uint64_t by) {
    return cell * 31 + by;
}

Memory in_order(const std::vector<Step>& steps) {
    Memory m;
    for (const auto& [kind, cell, other, seed] : steps) {
        switch (kind) {
            case 0:
                m.cells[cell] = changed(m.cells[cell], m.cells[other] + seed);
                break;
            case 1:
                m.cells[cell] = changed(m.cells[cell], m.renamed);
                break;
            case 2:
                m.renamed = changed(m.cells[other], seed);
                break;
            case 3:
                m.renamed = changed(m.renamed, seed);
                break;
            case 4:
                m.cells[cell] += seed;
                break;
            case 5:
                m.cells[cell] += seed;
                if (other != cell) m.cells[other] += seed;
                break;
            case 6:
                m.cells[cell] += seed;
                break;
            case 7:
                m.sum = m.sum + 1.0 / static_cast<double>(seed);
                m.text.letters += std::to_string(seed);
                break;
            default:
                m.cells[cell] = changed(m.cells[cell], m.text.letters.size());
                m.sum *= 0.5;
        }
    }
    return m;
}

// Spawns the same steps, and watches that commutative tasks keep out of each other's way.
class Spawner {
  public:
    explicit Spawner(const TasksOptions& options) : tasks_(options) {}

    Memory run(const std::vector<Step>& steps) {
        for (const Step& step : steps) spawn(step);
        tasks_.wait();
        memory_.renamed = renamed_.value();
        return memory_;
    }
    bool met() const { return met_; }

  private:
    void spawn(const Step& step) {
        if (step.kind < 4) return spawn_ordered(step);
        step.kind < 7 ? spawn_shared(step) : spawn_reduction(step);
    }

    void spawn_ordered(const Step& step) {
        std::uint64_t& cell = memory_.cells[step.cell];
        const std::uint64_t& other = memory_.cells[step.other];
        const std::uint64_t seed = step.seed;
        if (step.kind == 0) {
            tasks_.spawn({updates(cell), reads(other)},
                         [&cell, &other, seed] { cell = changed(cell, other + seed); });
        } else if (step.kind == 1) {
            const auto now = renamed_.read();
            tasks_.spawn({updates(cell), now}, [&cell, now] { cell = changed(cell, *now); });
        } else if (step.kind == 2) {
            const auto next = renamed_.write();
            tasks_.spawn({next, reads(other)}, [next, &other, seed] { *next = changed(other, seed); });
        } else {
            const auto now = renamed_.update();
            tasks_.spawn({now}, [now, seed] { *now = changed(*now, seed); });
        }
    }

    void spawn_shared(const Step& step) {
        const std::uint64_t seed = step.seed;
        std::uint64_t& cell = memory_.cells[step.cell];
        std::uint64_t& other = memory_.cells[step.other];
        if (step.kind == 4) {
            tasks_.spawn({commutes(cell)}, [this, step] { add_alone(step.cell, step.seed); });
        } else if (step.kind == 5) {
            tasks_.spawn({commutes(cell), commutes(other)}, [this, step] {
                add_alone(step.cell, step.seed);
                if (step.cell != step.other) add_alone(step.other, step.seed);
            });
        } else {
            tasks_.spawn({shares(cell)}, [&cell, seed] { std::atomic_ref(cell) += seed; });
        }
    }

    void spawn_reduction(const Step& step) {
        std::uint64_t& cell = memory_.cells[step.cell];
        const std::uint64_t seed = step.seed;
        if (step.kind == 7) {
            tasks_.spawn({reduces(sum_), reduces(text_)}, reducing(
                                                              [seed](double& part, Text& text) {
                                                                  part += 1.0 / static_cast<double>(seed);
                                                                  text.letters += std::to_string(seed);
                                                              },
                                                              sum_, text_));
        } else {
            tasks_.spawn({updates(memory_.sum), reads(memory_.text), updates(cell)}, [this, &cell] {
                cell = changed(cell, memory_.text.letters.size());
                memory_.sum *= 0.5;
            });
        }
    }

    void add_alone(std::size_t cell, std::uint64_t seed) {
        if (inside_[cell].exchange(true)) met_ = true;
        memory_.cells[cell] += seed;
        inside_[cell] = false;
    }

    Memory memory_;
    Renamed<std::uint64_t> renamed_;
    Reduction<double, std::plus<>> sum_{memory_.sum, {}, 0.0};
    Reduction<Text, decltype(&append)> text_{memory_.text, &append, {}};
    std::array<std::atomic<bool>, kCells> inside_{};
    std::atomic<bool> met_{false};
    Tasks tasks_;  // last, so that its tasks end first
};

// A task that reads something until it is let go.
class HeldReader {
  public:
    HeldReader(Tasks& tasks, const Access& access) {
        tasks.spawn({access}, [this] {
            begun_.count_down();
            while (!go_on_) std::this_thread::yield();
        });
        begun_.wait();
    }
    void disable_backpressure() { go_on_ = true; }

  private:
    std::latch begun_{1};
    std::atomic<bool> go_on_{false};
};

double sum_of_parts(TasksOptions options) {
    double total = 0;
    Reduction sum(total, std::plus<>{}, 0.0);
    Tasks tasks(std::move(options));
    for (int i = 1; i <= 300; ++i) {
        tasks.spawn({reduces(sum)}, reducing([i](double& part) { part += 1.0 / i; }, sum));
    }
    tasks.wait();
    return total;
}

}  // namespace

TEST_CASE("random programs of all accesses leave memory as in order, whatever the policy") {
    CHECK(rc::check("as in order", [] {
        const auto steps = *rc::gen::container<std::vector<Step>>(rc::gen::exec(random_step));
        Spawner spawner(random_options());
        RC_ASSERT(spawner.run(steps) == in_order(steps));
        RC_ASSERT(!spawner.met());
    }));
}

TEST_CASE("a sum of fractions is the same to the last bit under every policy, and as in order") {
    double expected = 0;
    for (int i = 1; i <= 300; ++i) expected += 1.0 / i;
    for (const policy::PolicyName& each : policy::policies()) {
        for (const std::size_t workers : {1u, 2u, 4u}) {
            CAPTURE(each.name);
            CHECK(sum_of_parts({.workers = workers, .policy = std::string(each.name)}) == expected);
        }
    }
}

TEST_CASE("a renamed write does not wait for who reads the value before, and a plain one does") {
    Tasks tasks({.workers = 2, .program_helps = false});
    Renamed<int> renamed(1);
    const auto before = renamed.read();
    HeldReader reader(tasks, before);
    std::latch written(1);
    const auto after = renamed.write();
    tasks.spawn({after}, [after, &written] {
        *after = 2;
        written.count_down();
    });
    written.wait();  // while the reader is still at it
    CHECK(*before == 1);
    reader.disable_backpressure();
    tasks.wait();
    CHECK(renamed.value() == 2);
}

TEST_CASE("memory of values that nobody reads any more is used again") {
    Tasks tasks({.workers = 1});
    Renamed<int> renamed(0);
    std::set<const int*> seen;
    for (int i = 0; i < 100; ++i) {
        const auto next = renamed.write();
        seen.insert(&*next);
        tasks.spawn({next}, [next, i] { *next = i; });
        tasks.wait();
    }
    CHECK(seen.size() <= 3);
    CHECK(renamed.value() == 99);
}

TEST_CASE("concurrent tasks meet, and who reads what they change waits for all of them") {
    Tasks tasks({.workers = 2, .program_helps = false});
    std::latch both(2);
    std::atomic<int> count{0};
    for (int i = 0; i < 2; ++i) {
        tasks.spawn({shares(count)}, [&] {
            both.arrive_and_wait();
            ++count;
        });
    }
    int seen = 0;
    tasks.spawn({reads(count), writes(seen)}, [&] { seen = count; });
    tasks.wait();
    CHECK(seen == 2);
}

TEST_CASE("a commutative task need not wait for one before it that waits for something else") {
    Tasks tasks({.workers = 2, .program_helps = false});
    int slow = 0;
    int sum = 0;
    HeldReader reader(tasks, reads(slow));
    tasks.spawn({updates(slow), commutes(sum)}, [&] { sum += 1; });
    std::latch added(1);
    tasks.spawn({commutes(sum)}, [&] {
        sum += 2;
        added.count_down();
    });
    added.wait();
    reader.disable_backpressure();
    tasks.wait();
    CHECK(sum == 3);
}

TEST_CASE("a task that throws adds nothing, those before it do, and later ones do not run") {
    int total = 100;
    Reduction sum(total, std::plus<>{}, 0);
    Tasks tasks({.workers = 1, .policy = "oldest"});
    const auto add = [&](int number) {
        tasks.spawn({reduces(sum)}, reducing(
                                        [number](int& part) {
                                            part += number;
                                            if (number == 3) throw std::runtime_error("three");
                                        },
                                        sum));
    };
    for (int number = 1; number <= 5; ++number) add(number);
    CHECK_THROWS_AS(tasks.wait(), TaskError);
    CHECK(total == 103);
    add(7);
    tasks.wait();
    CHECK(total == 110);
}

TEST_CASE("what combining throws is told, and the parts behind are combined") {
    int total = 0;
    const auto combine = [](int all, int part) {
        if (part == 2) throw std::runtime_error("no two");
        return all + part;
    };
    Reduction sum(total, combine, 0);
    Tasks tasks({.workers = 1, .policy = "lifo"});
    for (const int number : {1, 2, 3}) {
        tasks.spawn({reduces(sum)}, reducing([number](int& part) { part += number; }, sum));
    }
    CHECK_THROWS_WITH_AS(tasks.wait(), doctest::Contains("no two"), TaskError);
    CHECK(total == 4);
}

TEST_CASE("accesses that contradict each other are refused, and the program goes on") {
    Tasks tasks({.workers = 1});
    std::array<int, 4> x{};
    std::array<int, 4> y{};
    Reduction sum(x[0], std::plus<>{}, 0);
    Reduction product(x[0], std::multiplies<>{}, 1);
    const auto refuses = [&](std::vector<Access> accesses, const std::string& why) {
        CHECK_THROWS_WITH_AS(tasks.spawn(tasks.type("t"), accesses, [] { FAIL("ran"); }),
                             doctest::Contains(why.c_str()), TasksError);
    };
    refuses({reads(y), commutes(x), updates(x[1])}, "accesses 2 (commutative) and 3 (inout) share bytes");
    refuses({shares(x[2]), commutes(x)}, "accesses 1 (concurrent) and 2 (commutative)");
    refuses({reads(x), reduces(sum)}, "accesses 1 (in) and 2 (reduction)");
    refuses({reduces(sum), reduces(product)}, "reductions by different operations");
    refuses({reduces(sum), reduces(sum)}, "the same reduction");
    refuses({{&x, sizeof x, Access::Mode::reduction}}, "without operation and neutral element");
    CHECK_THROWS_WITH_AS(tasks.spawn({updates(y)}, reducing([](int&) {}, sum)),
                         doctest::Contains("add reduces()"), TasksError);
    CHECK_THROWS_WITH_AS(tasks.spawn({reads(y), reduces(sum)}, [&] { ++x[0]; }),
                         doctest::Contains("(its access 2) and does not add to it"), TasksError);
    int other = 0;
    Reduction unused(other, std::plus<>{}, 0);
    CHECK_THROWS_WITH_AS(tasks.spawn({reduces(unused), reduces(sum)}, reducing([](int&) {}, sum)),
                         doctest::Contains("(its access 1) and does not add to it"), TasksError);
    CHECK_THROWS_WITH_AS(Reduction(x[0], std::plus<>{}, 1), doctest::Contains("neutral"), TasksError);
    tasks.spawn({reads(x), updates(x), commutes(y), commutes(y[1])}, [&] { ++x[3]; });
    tasks.spawn({reduces(sum)}, reducing([](int& part) { part += 5; }, sum));
    tasks.spawn({reduces(product)}, reducing([](int& part) { part *= 3; }, product));
    CHECK(tasks.wait().ran == 3);
    CHECK(x == std::array{15, 0, 0, 1});
}

}  // namespace tidemill
