#include "tidemill/cli/app_job.hpp"

#include <atomic>
#include <chrono>

#include <fmt/format.h>

#include "tidemill/cli/cli_error.hpp"
#include "tidemill/cli/cores.hpp"
#include "tidemill/cli/scheduling_options.hpp"
#include "tidemill/cli/watch.hpp"
#include "tidemill/platform/affinity.hpp"
#include "tidemill/run/pipeline.hpp"
#include "tidemill/run/ring_depth.hpp"
#include "tidemill/run/sequence.hpp"
#include "tidemill/run/thread_per_task.hpp"
#include "tidemill/run/weigh/profiler.hpp"
#include "tidemill/schedule/schedule_file.hpp"
#include "tidemill/schedule/strategy.hpp"

namespace tidemill::cli {

namespace {

using Clock = std::chrono::steady_clock;

// The first part of a profile, which is thrown away: tables made at first use and fresh memory are not what a
// stream costs in the long run.
constexpr double kWarmUp = 0.2;

double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

RunReport run_for(Sequence& sequence, double seconds) {
    return sequence.run(
        {.stop_when = [start = Clock::now(), seconds] { return seconds_since(start) >= seconds; }});
}

// Source frames that have run. Whoever is asked whether to go on is done with those it was asked for before.
class FrameCount {
  public:
    FrameCount(double seconds, const std::optional<Schedule>& schedule) : seconds_(seconds) {
        if (schedule) follow(*schedule);
    }

    // Only the first thread of the first stage is asked; the others begin as many frames.
    void follow(const Schedule& schedule) {
        first_threads_.store(static_cast<std::uint64_t>(schedule.stages[0].threads),
                             std::memory_order_relaxed);
    }

    bool enough() {
        frames_.fetch_add(asked_for_, std::memory_order_relaxed);
        asked_for_ = first_threads_.load(std::memory_order_relaxed);
        return seconds_ > 0 && seconds_since(start_) >= seconds_;
    }

    std::string line() const {
        const double elapsed_s = seconds_since(start_);
        const std::uint64_t frames = frames_.load(std::memory_order_relaxed);
        return fmt::format("{:7.1f} s  {:10} frames  {:11.1f} frames/s", elapsed_s, frames,
                           static_cast<double>(frames) / elapsed_s);
    }

  private:
    double seconds_;
    Clock::time_point start_ = Clock::now();
    std::atomic<std::uint64_t> first_threads_{1};
    std::uint64_t asked_for_ = 0;  // of whoever is asked
    std::atomic<std::uint64_t> frames_{0};
};

void choose_schedule(const AppProgram& program, const AppRunOptions& options, const Topology& topology,
                     AppOutcome& outcome) {
    if (options.executor == "sequence") return;
    if (options.schedule != "auto") {
        outcome.schedule = read_schedule(options.schedule);
        return;
    }
    if (options.executor == "threads") {
        Graph graph(program.name);
        program.build(graph);
        outcome.schedule = thread_per_task(structure_of(graph), options.replicas);
        return;
    }
    const Platform platform = chosen_platform(options.cores, topology);
    outcome.profile = profile_app(program, topology, platform, options.profile_s);
    outcome.model = model_of({.model = options.model}, *outcome.profile);
    outcome.schedule = strategy(options.strategy).schedule(*outcome.profile, platform, {}, outcome.model);
    announce(outcome);
}

PipelineOptions pipeline_options(const AppRunOptions& options, const AppOutcome& outcome,
                                 const Topology& topology) {
    constexpr double kHopUs = 0.2;  // what a hop costs where stages seldom wait: `tidemill bench hop`
    PipelineOptions chosen{.topology = &topology, .waiting = WaitMode::mixed, .frames = options.batch};
    if (options.latency_us == 0) return chosen;
    if (!outcome.profile)
        throw WrongUsage("--latency-us needs a profile: leave --schedule and --executor out");
    const RingDepth depth = ring_depth_for(options.latency_us, *outcome.schedule, *outcome.profile, kHopUs);
    if (depth.latency_us > options.latency_us) {
        fmt::print(stderr, "warning: the least latency of this schedule is {:.2f} us\n", depth.latency_us);
    }
    chosen.ring_depth = depth.depth;
    chosen.frames = depth.frames;
    return chosen;
}

void run_pipeline(Graph& graph, const AppRunOptions& options, const AppRun& how, const RunOptions& run,
                  AppOutcome& outcome) {
    Pipeline pipeline(graph, *outcome.schedule, how.pipeline);
    if (!options.adapt.adapt) {
        outcome.run = pipeline.run(run);
        return;
    }
    if (!outcome.profile) throw WrongUsage("--adapt needs a profile: leave --schedule and --executor out");
    const AdaptationOptions adaptation{.cores = how.cores,
                                       .model = outcome.model,
                                       .strategy = &strategy(options.strategy),
                                       .threshold = options.adapt.threshold};
    AdaptedRun adapted = run_adapting(pipeline, *outcome.profile, *outcome.schedule, adaptation,
                                      options.adapt.every_s, run, how.changed);
    outcome.run = std::move(adapted.report);
    outcome.changes = std::move(adapted.changes);
}

}  // namespace

double AppOutcome::period_us() const {
    return run.frames > 0 ? run.elapsed_s * 1e6 / static_cast<double>(run.frames) : 0;
}

std::optional<double> AppOutcome::predicted_period_us() const {
    if (!profile || !schedule) return std::nullopt;
    return tidemill::period_us(*schedule, *profile, model);
}

void announce(const AppOutcome& outcome) {
    fmt::print(stderr, "scheduled in {} stages on {} threads, predicted {:.2f} us a frame\n",
               outcome.schedule->stages.size(), outcome.schedule->thread_count(),
               *outcome.predicted_period_us());
}

Profile profile_app(const AppProgram& program, const Topology& topology, const Platform& platform,
                    double seconds) {
    Profile profile;
    for (const CoreKind& kind : topology.kinds) {
        if (platform.count(kind.name) == 0) continue;
        const PinGuard pinned(topology.cores[kind.cores.front()].pus);
        if (pinned.error()) fmt::print(stderr, "warning: profile not pinned: {}\n", pinned.error()->reason);
        Graph graph(program.name);
        program.build(graph);
        Sequence sequence(graph);
        RunReport report = run_for(sequence, kWarmUp * seconds);
        RunReport steady = run_for(sequence, (1 - kWarmUp) * seconds);
        // A short stream may be over with the warming up.
        if (steady.frames >= report.frames) report = std::move(steady);
        add_weights(profile, kind.name, sequence, report);
    }
    return profile;
}

void run_graph(Graph& graph, const AppRunOptions& options, const AppRun& how, AppOutcome& outcome) {
    const FoundEnergyMeter energy = find_energy_meter(options.energy_meter);
    Insight insight(options.insight, graph);
    FrameCount count(options.seconds, outcome.schedule);
    AppRun counted = how;
    counted.changed = [&](const Schedule& schedule) {
        count.follow(schedule);
        if (how.changed) how.changed(schedule);
    };
    {
        const Watch watch([&] { return count.line(); });
        RunOptions run{.stop_when = [&] { return count.enough(); },
                       .stop = watch.stop(),
                       .statistics = options.stats || options.json,
                       .energy_meter = energy.meter.get()};
        if (options.frames > 0) run.frames = options.frames;
        insight.watch(run);
        if (outcome.schedule) {
            run_pipeline(graph, options, counted, run, outcome);
        } else {
            outcome.run = Sequence(graph).run(run);
        }
        outcome.interrupted = watch.interrupted();
    }
    if (!energy.meter) outcome.run.energy.not_measured = energy.reason;
    insight.write(outcome.schedule, outcome.run);
}

AppOutcome run_app(const AppProgram& program, const AppRunOptions& options) {
    AppOutcome outcome;
    outcome.program = program.name;
    const Topology topology = Topology::here();
    choose_schedule(program, options, topology, outcome);
    Graph graph(program.name);
    const App::Outcome tell = program.build(graph);
    AppRun how;
    if (outcome.schedule) how.pipeline = pipeline_options(options, outcome, topology);
    if (outcome.profile) how.cores = chosen_platform(options.cores, topology);
    run_graph(graph, options, how, outcome);
    if (tell) outcome.result = tell();
    return outcome;
}

}  // namespace tidemill::cli
