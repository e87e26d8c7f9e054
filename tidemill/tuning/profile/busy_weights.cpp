#include "tidemill/tuning/profile/busy_weights.hpp"

#include <algorithm>
#include <chrono>
#include <deque>

#include "tidemill/runtime/execute/pipeline.hpp"
#include "tidemill/scheduling/static/herad.hpp"
#include "tidemill/scheduling/static/interruption.hpp"
#include "tidemill/tuning/profile/weight_log.hpp"

namespace tidemill {

namespace {

/// A log for each thread.
class ThreadLogs final : public Observer {
  public:
    explicit ThreadLogs(const Structure& structure) : structure_(structure) {}

    // Asked before any of them runs.
    ThreadObserver& watch(const ObservedThread& thread) override {
        return logs_.emplace_back(structure_).watch(thread);
    }

    // Each frame has passed one of the threads of each stage.
    std::vector<double> weights_us(std::uint64_t frames) const {
        std::vector<double> sums_us(structure_.units.size());
        for (const WeightLog& log : logs_) {
            const std::vector<UnitWeight> weights = log.weights();
            const double share = static_cast<double>(log.frames()) / static_cast<double>(frames);
            for (std::size_t u = 0; u < sums_us.size(); ++u) sums_us[u] += share * weights[u].weight_us;
        }
        return sums_us;
    }

  private:
    const Structure& structure_;
    std::deque<WeightLog> logs_;
};

/// The pace of frames between the first tenth of the time and its end.
class SteadyPace {
  public:
    explicit SteadyPace(double seconds)
        : begin_(Clock::now() + part_of(seconds, 0.1)), end_(begin_ + part_of(seconds, 0.9)) {}

    bool is_over() {
        const Clock::time_point now = Clock::now();
        if (now >= begin_ && frames_++ == 0) first_ = now;
        last_ = now;
        return now >= end_;
    }

    /// Microseconds; the thread that is asked begins one frame of so many. 0 where too few came.
    double period_us(int share) const {
        if (frames_ < 2) return 0;
        const std::chrono::duration<double, std::micro> elapsed = last_ - first_;
        return elapsed.count() / static_cast<double>((frames_ - 1) * static_cast<std::uint64_t>(share));
    }

  private:
    using Clock = std::chrono::steady_clock;
    static Clock::duration part_of(double seconds, double part) {
        return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(part * seconds));
    }

    Clock::time_point begin_;
    Clock::time_point end_;
    Clock::time_point first_{};
    Clock::time_point last_{};
    std::uint64_t frames_ = 0;
};

// Frames that do not all take the same time wait for each other, and hand-overs take some: what the pipeline
// needs beyond its slowest stage, as a ratio.
double waiting_ratio(const Schedule& schedule, const Profile& alone, const std::vector<double>& weights_us,
                     double real_us) {
    constexpr double kMost = 1.15;
    Profile busy = alone;
    for (std::size_t u = 0; u < weights_us.size(); ++u) busy.tasks[u].weight_us.front() = weights_us[u];
    const double stages_us = period_us(schedule, busy);
    return stages_us > 0 ? std::clamp(real_us / stages_us, 1.0, kMost) : 1;
}

}  // namespace

std::vector<double> busy_weights_us(Graph& graph, const Profile& alone, const CoreKind& kind, int cores,
                                    const Topology& topology, double seconds) {
    constexpr std::uint64_t kLeastFrames = 50;
    if (cores < 2) return {};
    Platform platform;
    platform.set(kind.name, cores);
    const Schedule schedule = herad(alone, platform);
    if (schedule.thread_count() < 2) return {};
    Pipeline pipeline(graph, schedule, {.topology = &topology, .ring_depth = 8, .waiting = WaitMode::mixed});
    ThreadLogs logs(pipeline.structure());
    SteadyPace pace(seconds);
    const RunReport report = pipeline.run(
        {.stop_when = [&] { return pace.is_over(); }, .stop = interruption(), .observers = {&logs}});
    interruption_point();
    if (report.frames < kLeastFrames) return {};
    std::vector<double> weights_us = logs.weights_us(report.frames);
    const double ratio =
        waiting_ratio(schedule, alone, weights_us, pace.period_us(schedule.stages.front().threads));
    for (double& weight_us : weights_us) weight_us *= ratio;
    return weights_us;
}

}  // namespace tidemill
