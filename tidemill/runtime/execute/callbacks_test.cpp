#include <atomic>
#include <functional>
#include <sstream>
#include <stdexcept>
#include <streambuf>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tidemill/runtime/execute/duplicates.hpp"
#include "tidemill/runtime/observe/debug_print.hpp"
#include "tidemill/runtime/observe/watchdog.hpp"
#include "tidemill/runtime/stream/inlet.hpp"
#include "tidemill/runtime/stream/journal.hpp"
#include "tidemill/runtime/testing/each_executor.hpp"
#include "tidemill/scheduling/dynamic/ranked.hpp"
#include "tidemill/scheduling/dynamic/rule.hpp"

using namespace tidemill;
using namespace tidemill::internal;
using namespace std::chrono_literals;

namespace {

struct Silent : std::exception {
    const char* what() const noexcept override { return nullptr; }
};

/// Throws at one of its calls, from any caller, and never again.
class ThrowsOnce {
  public:
    explicit ThrowsOnce(int at) : left_(at) {}
    void operator()() {
        if (--left_ == 0) throw Silent();
    }
    bool has_thrown() const { return left_ <= 0; }
    void again() { left_ = 1; }

  private:
    std::atomic<int> left_;
};

/// A chain of three tasks, the one in the middle with copies.
struct Middle : Module {
    Middle() : Module("middle") {}
    In<int> x = in<int>("x");
    Out<int> y = out<int>("y");
    Task work = task("work", &Middle::run, cloned);
    void run(Frame f) { f[y][0] = f[x][0]; }
};

void build(Graph& graph) {
    auto& source = graph.add(task("source", out<int>("x"), [n = 0](auto x) mutable { x[0] = n++; }));
    auto& middle = graph.add<Middle>();
    auto& sink = graph.add(task("sink", in<int>("y"), [](auto) {}));
    graph.bind(source["x"], middle.x);
    graph.bind(middle.y, sink["y"]);
}

/// The function of an observer that throws.
enum class Seen { begin_run, end_run, watch, calling, called, waiting, waited };

class Guest final : public Observer, public ThreadObserver {
  public:
    Guest(Seen when, ThrowsOnce& then) : when_(when), throw_(then) {}
    void begin_run() override { see(Seen::begin_run); }
    void end_run() override {
        ++ended;
        see(Seen::end_run);
    }
    ThreadObserver& watch(const ObservedThread&) override {
        see(Seen::watch);
        return *this;
    }
    void calling(const OrderedTask&, std::uint64_t) override { see(Seen::calling); }
    void called(const ObservedCall&) override { see(Seen::called); }
    void waiting(std::uint32_t, bool) override { see(Seen::waiting); }
    void waited(const ObservedWait&) override { see(Seen::waited); }

    int ended = 0;

  private:
    void see(Seen now) {
        if (now == when_) throw_();
    }
    Seen when_;
    ThrowsOnce& throw_;
};

/// The stream takes so many bytes, then its buffer throws.
class FullDisk final : public std::streambuf {
    int_type overflow(int_type) override { throw Silent(); }
    std::streamsize xsputn(const char*, std::streamsize) override { throw Silent(); }
};

/// Whether it throws that.
template <class Call>
bool is_silent(Call call) {
    try {
        call();
        return false;
    } catch (const Silent&) {
        return true;
    }
}

}  // namespace

TEST_CASE("what a condition throws ends the run, is thrown by run(), and the stream can be resumed") {
    for (const int at : {1, 3, 500}) {
        under_each_executor(build, [&](Executor& executor, const std::string& name) {
            CAPTURE(name);
            CAPTURE(at);
            ThrowsOnce guest(at);
            const RunOptions options{.frames = 1000, .stop_when = [&] { return guest(), false; }};
            CHECK(is_silent([&] { executor.run(options); }));
            CHECK(executor.resume({.frames = 3}).delivered == 3);
        });
    }
}

TEST_CASE("what an observer throws ends the run, is thrown by run(), and the stream can be resumed") {
    for (const Seen seen : {Seen::begin_run, Seen::end_run, Seen::watch, Seen::calling, Seen::called,
                            Seen::waiting, Seen::waited}) {
        under_each_executor(build, [&](Executor& executor, const std::string& name) {
            CAPTURE(name);
            CAPTURE(static_cast<int>(seen));
            ThrowsOnce guest(1);
            ThrowsOnce never(0);
            Guest first(Seen::begin_run, never);
            Guest observer(seen, guest);
            const bool thrown = is_silent([&] {
                executor.run({.frames = 1000, .observers = {&first, &observer}});
            });
            CHECK(thrown == guest.has_thrown());  // a thread that never waits sees no wait
            CHECK(first.ended == 1);
            CHECK(observer.ended == (seen == Seen::begin_run ? 0 : 1));
            CHECK(executor.resume({.frames = 3}).delivered == 3);
        });
    }
}

TEST_CASE("what a task or the function for late frames throws is the task's error, whatever its what()") {
    for (const bool late : {false, true}) {
        const auto build_failing = [&](Graph& graph) {
            auto& source = graph.add(task("source", out<int>("x"), [n = 0](auto x) mutable { x[0] = n++; }));
            auto& middle =
                graph.add(task("middle", pure, in<int>("x"), out<int>("y"), [late](auto x, auto y) {
                    if (!late && x[0] == 2) throw Silent();
                    y[0] = x[0];
                }));
            auto& sink = graph.add(task("sink", in<int>("y"), [](auto) {}));
            graph.chain(source, middle, sink);
        };
        under_each_executor(build_failing, [&](Executor& executor, const std::string& name) {
            CAPTURE(name);
            CAPTURE(late);
            RunOptions options{.frames = 9};
            if (late) {
                options.deadline = 1ns;
                options.when_late = [](const LateFrame& frame) {
                    if (frame.frame == 2) throw Silent();
                };
            }
            try {
                executor.run(options);
                FAIL("nothing was thrown");
            } catch (const FrameError& error) {
                CHECK(error.frame() == 2);
                CHECK(std::string(error.what()).find("what() is null") != std::string::npos);
            }
        });
    }
}

namespace {

/// Throws in one of a module's functions.
struct Failing : Module {
    enum class In { begin, end, keep, copy, totals, merge };
    Failing(In when, ThrowsOnce& then) : Module("failing"), when_(when), throw_(then) {}
    Failing(const Failing& other)
        : Module(other), x(other.x), y(other.y), work(other.work), when_(other.when_), throw_(other.throw_) {
        if (when_ == In::copy) throw_();
    }

    tidemill::In<int> x = in<int>("x");
    Out<int> y = out<int>("y");
    Task work = task("work", &Failing::run, cloned);

    void begin(const Run&) override { fail(In::begin); }
    void end() override { fail(In::end); }
    void keep(Archive&) override { fail(In::keep); }
    void reset_counters() override { fail(In::totals); }
    void merge(Module&) override { fail(In::merge); }

  private:
    void run(Frame f) { f[y][0] = f[x][0]; }
    void fail(In now) {
        if (now == when_) throw_();
    }
    In when_;
    ThrowsOnce& throw_;
};

}  // namespace

TEST_CASE("what a module's function throws names the module, and the stream can be resumed") {
    using In = Failing::In;
    for (const In when : {In::begin, In::end, In::copy, In::totals, In::merge}) {
        ThrowsOnce guest(1 << 30);
        const auto build_failing = [&](Graph& graph) {
            auto& source = graph.add(task("source", out<int>("x"), [n = 0](auto x) mutable { x[0] = n++; }));
            auto& failing = graph.add<Failing>(when, guest);
            auto& sink = graph.add(task("sink", in<int>("y"), [](auto) {}));
            graph.bind(source["x"], failing.x);
            graph.bind(failing.y, sink["y"]);
        };
        under_each_executor(build_failing, [&](Executor& executor, const std::string& name) {
            CAPTURE(name);
            CAPTURE(static_cast<int>(when));
            const bool has_copies = name == "two threads in the middle" || name == "three workers";
            guest.again();
            try {
                executor.run({.frames = 9});
                CHECK(!has_copies);
                CHECK(!guest.has_thrown());
            } catch (const Error& error) {
                CHECK(std::string(error.what()).starts_with("module 'failing' "));
            }
            CHECK(executor.resume({.frames = 3}).delivered == 3);
        });
    }
}

TEST_CASE("what keep() throws is thrown by checkpoint()") {
    ThrowsOnce guest(1);
    Graph graph;
    auto& source = graph.add(task("source", out<int>("x"), [n = 0](auto x) mutable { x[0] = n++; }));
    auto& failing = graph.add<Failing>(Failing::In::keep, guest);
    graph.bind(source["x"], failing.x);
    Sequence sequence(graph);
    sequence.run({.frames = 3});
    CHECK_THROWS_AS(sequence.checkpoint(), ModuleError);
    CHECK(sequence.resume({.frames = 3}).delivered == 3);
}

TEST_CASE("a journal whose stream throws is not written, which run() says") {
    under_each_executor(build, [&](Executor& executor, const std::string& name) {
        CAPTURE(name);
        FullDisk disk;
        std::ostream stream(&disk);
        stream.exceptions(std::ios::badbit | std::ios::failbit);
        Journal journal(stream);
        CHECK_THROWS_AS(executor.run({.frames = 9, .journal = &journal}), JournalNotWritten);
        CHECK(executor.resume({.frames = 3}).delivered == 3);
    });
}

namespace {

/// A meter that throws anything, anywhere.
struct BrokenMeter final : EnergyMeter {
    enum class In { start, sample, domains };
    explicit BrokenMeter(In when) : when_(when) {}
    const std::string& name() const override { return name_; }
    void start(TimePoint) override { fail(In::start); }
    void sample(TimePoint) override { fail(In::sample); }
    std::span<const EnergyDomain> domains() const override {
        fail(In::domains);
        return {};
    }

  private:
    void fail(In now) const {
        if (now == when_) throw Silent();
    }
    In when_;
    std::string name_ = "broken";
};

}  // namespace

TEST_CASE("a meter that throws is a reason in the report, whatever it throws") {
    for (const auto when : {BrokenMeter::In::start, BrokenMeter::In::sample, BrokenMeter::In::domains}) {
        under_each_executor(build, [&](Executor& executor, const std::string& name) {
            CAPTURE(name);
            BrokenMeter meter(when);
            const RunReport report = executor.run({.frames = 9, .energy_meter = &meter});
            CHECK(report.energy.not_measured == "broken: an exception whose what() is null");
        });
    }
}

TEST_CASE("what a watchdog's report throws is thrown by run() when the stream has ended") {
    under_each_executor(
        [](Graph& graph) {
            auto& source = graph.add(task("source", out<int>("x"), [](auto x) { x[0] = 0; }));
            auto& middle =
                graph.add(task("middle", pure, in<int>("x"), out<int>("y"), [](auto, auto y) { y[0] = 0; }));
            auto& sink = graph.add(task("sink", in<int>("y"), [](auto) {}));
            graph.chain(source, middle, sink);
        },
        [&](Executor& executor, const std::string& name) {
            CAPTURE(name);
            std::atomic<bool> reported = false;
            Graph unused;
            Watchdog watchdog(unused, 1ms, [&](const std::string&) {
                reported = true;
                throw Silent();
            });
            // A run that stands still until the report has come.
            const auto until = [&] {
                while (!reported) std::this_thread::yield();
                return true;
            };
            CHECK(is_silent([&] { executor.run({.stop_when = until, .observers = {&watchdog}}); }));
            CHECK(executor.resume({.frames = 3}).delivered == 3);
        });
}

namespace {

/// A policy's rule that throws.
struct ThrowingRule : policy::Rule {
    explicit ThrowingRule(ThrowsOnce& then) : throw_(&then) {}
    Rank rank(policy::TaskSlot) const {
        (*throw_)();
        return 0;
    }
    ThrowsOnce* throw_;
};

}  // namespace

TEST_CASE("what a policy throws ends the run at once and is thrown by run()") {
    for (const int at : {1, 5, 50}) {
        for (const std::size_t workers : {1, 3}) {
            CAPTURE(at);
            CAPTURE(workers);
            ThrowsOnce guest(at);
            Graph graph;
            build(graph);
            const auto make = [&](std::span<const policy::KindId> kinds) {
                return std::make_unique<policy::Ranked<ThrowingRule>>(kinds, ThrowingRule(guest));
            };
            Dynamic dynamic(graph, {.workers = workers, .make_policy = make});
            CHECK(is_silent([&] { dynamic.run({.frames = 10000}); }));
            CHECK(dynamic.run({.frames = 3}).delivered == 3);
        }
    }
}

TEST_CASE("of copies of a graph, what one of them throws is thrown behind all") {
    Graph graph;
    build(graph);
    ThrowsOnce guest(20);
    Duplicates copies(graph, 3);
    CHECK(is_silent([&] { copies.run({.stop_when = [&] { return guest(), false; }}); }));
    CHECK(copies.run({.frames = 9}).size() == 3);
}

TEST_CASE("what functions of inlets, outlets and prints throw ends the run as its task's error, or its own") {
    Graph graph;
    auto& inlet = graph.add<Inlet<int>>(std::size_t{1}, [](std::span<int>) -> bool { throw Silent(); });
    auto& outlet = graph.add<Outlet<int>>(std::size_t{1}, [](std::span<const int>) {});
    graph.chain(inlet, outlet);
    Sequence sequence(graph);
    CHECK_THROWS_AS(sequence.run(), FrameError);
    Started run(sequence, {}, [](const std::exception&) { throw Silent(); });
    CHECK_THROWS_AS(run.join(), FrameError);

    Graph printed;
    build(printed);
    DebugPrint print([](std::string_view) { throw Silent(); }, {.frames = 1});
    Pipeline pipeline(printed, thread_per_task(printed));
    CHECK(is_silent([&] { pipeline.run({.frames = 9, .observers = {&print}}); }));
}
