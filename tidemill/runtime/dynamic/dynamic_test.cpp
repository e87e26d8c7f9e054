#include "tidemill/runtime/dynamic/dynamic.hpp"

#include <doctest/doctest.h>

#include "tidemill/runtime/dynamic/testing/kind_watch.hpp"
#include "tidemill/runtime/execute/sequence.hpp"
#include "tidemill/runtime/testing/random_runs.hpp"
#include "tidemill/runtime/testing/test_chain.hpp"
#include "tidemill/scheduling/dynamic/policy.hpp"

namespace tidemill {

TEST_CASE("a chain with a segment's end delivers what the sequence delivers") {
    const auto run = [](auto make) {
        Graph graph;
        internal::build_test_chain(graph);
        return make(graph);
    };
    const RunReport expected = run([](Graph& g) { return Sequence(g).run({.frames = 1000}); });
    for (const std::size_t workers : {1u, 2u, 3u}) {
        CAPTURE(workers);
        const RunReport report =
            run([&](Graph& g) { return Dynamic(g, {.workers = workers}).run({.frames = 1000}); });
        CHECK(report.frames == expected.frames);
        CHECK(report.delivered == expected.delivered);
        CHECK(report.skipped == expected.skipped);
    }
}

TEST_CASE("a run that is asked to end before its first frame leaves all frames to the next one") {
    Graph graph;
    auto& source = graph.add(task("source", out<int>("y"), [n = 0](auto y) mutable { y[0] = n++; }));
    std::vector<int> seen;
    auto& sink = graph.add(task("sink", in<int>("x"), [&](auto x) { seen.push_back(x[0]); }));
    graph.chain(source, sink);
    struct Numbered : Module {
        In<int> x = in<int>("x");
        Task check = task("check", &Numbered::run);
        void run(Frame f) { matches += f.number() == static_cast<std::uint64_t>(f[x][0]); }
        int matches = 0;
    };
    auto& numbered = graph.add<Numbered>();
    graph.bind(source["y"], numbered.x);
    Dynamic dynamic(graph);
    std::stop_source ends;
    ends.request_stop();
    for (int i = 0; i < 20; ++i) {
        dynamic.resume({.frames = 100, .stop = ends.get_token()});
        dynamic.resume({.frames = 5});
    }
    CHECK(numbered.matches == static_cast<int>(seen.size()));
    CHECK(seen.size() >= 100);
}

namespace {

enum class Ending { none, stop, error };

// Keeps state, and ends the stream in its way at a frame.
class ShortTask : public Module {
  public:
    ShortTask(Ending ending, std::uint64_t last) : ending_(ending), last_(last) {}
    In<std::uint64_t> x = in<std::uint64_t>("x");
    Out<std::uint64_t> y = out<std::uint64_t>("y");
    Task next = task("next", &ShortTask::run);

  private:
    Flow run(Frame f) {
        state_ = state_ * 31 + f[x][0];
        f[y][0] = state_;
        if (f.number() != last_ || ending_ == Ending::none) return Flow::ok;
        if (ending_ == Ending::error) throw std::runtime_error("as told");
        return Flow::stop;
    }
    Ending ending_;
    std::uint64_t last_;
    std::uint64_t state_ = 1;
};

// Six tasks of some nanoseconds, so that workers get batches of them; what came out of them, in order.
struct ShortStream {
    ShortStream(Ending ending, std::uint64_t last) {
        auto& source = graph.add(
            task("source", out<std::uint64_t>("y"), [n = std::uint64_t{0}](auto y) mutable { y[0] = n++; }));
        auto& pure_one = graph.add(task("mix", pure, in<std::uint64_t>("x"), out<std::uint64_t>("y"),
                                        [](auto x, auto y) { y[0] = x[0] * 0x9e3779b97f4a7c15ull; }));
        auto& first = graph.add<ShortTask>(Ending::none, 0);
        auto& second = graph.add<ShortTask>(ending, last);
        auto& third = graph.add<ShortTask>(Ending::none, 0);
        auto& sink = graph.add(task("sink", in<std::uint64_t>("x"), [this](auto x) {
            hash = hash * 31 + x[0];
            ++frames;
        }));
        graph.chain(source, pure_one, first, second, third, sink);
    }

    // Output of a run, and how it ended.
    std::string run(auto&& executor) {
        std::string error;
        try {
            executor.run({.frames = 3000});
            executor.resume({.frames = 4000});
        } catch (const FrameError& thrown) {
            error = fmt::format(" {} {}", thrown.task(), thrown.frame());
        } catch (const RunError&) {
            error = " has ended";
        }
        return fmt::format("{} frames, {:x}{}", frames, hash, error);
    }

    Graph graph;
    std::uint64_t frames = 0;
    std::uint64_t hash = 1;
};

}  // namespace

TEST_CASE("a stream of short tasks comes out as in order, wherever one of them ends it") {
    for (const Ending ending : {Ending::none, Ending::stop, Ending::error}) {
        for (std::uint64_t last = 2990; last < 7000; last += 271) {
            CAPTURE(last);
            ShortStream in_order(ending, last);
            const std::string expected = in_order.run(Sequence(in_order.graph));
            for (const std::size_t workers : {1u, 2u, 3u}) {
                CAPTURE(workers);
                ShortStream stream(ending, last);
                CHECK(stream.run(Dynamic(stream.graph, {.workers = workers})) == expected);
            }
        }
    }
}

namespace {

internal::RandomOutcome run_dynamic(const internal::RandomProgram& program, const DynamicOptions& options) {
    internal::RandomOutcome outcome;
    Graph graph;
    const auto modules = internal::build(program, graph, outcome);
    internal::KindWatch watch(options.kinds, options.only);
    RunOptions run{
        .frames = program.frames, .statistics = program.frames % 2 == 0, .finish = program.finishes};
    if (!options.kinds.empty()) run.observers.push_back(&watch);
    try {
        Dynamic dynamic(graph, options);
        make_settings(program, modules, dynamic);
        const RunReport report = dynamic.run(run);
        outcome.delivered = report.delivered;
        outcome.skipped = report.skipped;
    } catch (const FrameError& error) {
        outcome.error = fmt::format("{} {}", error.task(), error.frame());
    }
    CHECK(watch.elsewhere == 0);
    for (const internal::RandomModule* module : modules) outcome.total += module->total;
    return outcome;
}

// A pure task that throws is no reason for sinks that do not depend on it to wait.
internal::Ahead allowed_ahead(const internal::RandomProgram& program,
                              const internal::RandomOutcome& expected) {
    if (!expected.ending) return internal::Ahead::none;
    const internal::RandomTask& ending = program.tasks[static_cast<std::size_t>(*expected.ending)];
    return ending.replication == Replication::sequential ? internal::Ahead::before_end : internal::Ahead::all;
}

// Cores of up to three kinds, and for some tasks one of these or more.
void confine(const internal::RandomProgram& program, std::mt19937_64& random, DynamicOptions& options) {
    for (std::size_t w = 0; w < options.workers; ++w)
        options.kinds.push_back(static_cast<policy::KindId>(random() % 3));
    for (std::size_t at = 0; at < program.tasks.size(); ++at) {
        const policy::KindSet there = policy::KindSet{1} << options.kinds[random() % options.workers];
        if (random() % 2) options.only[fmt::format("task{}", at)] = there | (random() % 8);
    }
}

DynamicOptions random_options(const internal::RandomProgram& program, std::mt19937_64& random) {
    const auto policies = policy::policies();
    DynamicOptions options;
    options.workers = 1 + random() % 4;
    options.policy = policies[random() % policies.size()].name;
    if (random() % 4 != 0) options.window.iterations = 1 + random() % 9;
    options.bundle = std::chrono::nanoseconds(random() % 2 ? 1000 : 0);
    if (random() % 2) confine(program, random, options);
    return options;
}

}  // namespace

TEST_CASE("random graphs under any policy, window, workers and kinds of cores do to the bit what they mean") {
    for (std::uint64_t seed = 1; seed <= internal::random_programs(150); ++seed) {
        INFO("seed ", seed);
        const internal::RandomProgram program = internal::RandomProgramMaker(seed).make();
        const internal::RandomOutcome expected = internal::RandomInterpreter(program).run();
        std::mt19937_64 random(seed);
        for (int i = 0; i < 3; ++i) {
            const DynamicOptions options = random_options(program, random);
            INFO("policy ", options.policy, ", workers ", options.workers, ", window ",
                 options.window.iterations, ", bundle ", options.bundle.count(), ", confined ",
                 options.only.size());
            internal::check_same(run_dynamic(program, options), expected, allowed_ahead(program, expected));
        }
    }
}

}  // namespace tidemill
