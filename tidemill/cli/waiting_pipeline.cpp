#include "tidemill/cli/waiting_pipeline.hpp"

#include <cerrno>
#include <chrono>
#include <cmath>
#include <ctime>

#include <fmt/format.h>
#include <sys/prctl.h>

#include "tidemill/cli/command.hpp"
#include "tidemill/graph/graph.hpp"
#include "tidemill/run/pipeline.hpp"

namespace tidemill::cli {

namespace {

using Clock = std::chrono::steady_clock;

void wait_us(double time_us) {
    timespec left{static_cast<time_t>(time_us / 1e6), std::lround(std::fmod(time_us, 1e6) * 1e3)};
    while (clock_nanosleep(CLOCK_MONOTONIC, 0, &left, &left) == EINTR) {
    }
}

// Timers of this thread, and of those that it starts, fire as exactly as the kernel can.
class ExactTimers {
  public:
    ExactTimers() : before_(prctl(PR_GET_TIMERSLACK)) { prctl(PR_SET_TIMERSLACK, 1UL); }
    ~ExactTimers() { prctl(PR_SET_TIMERSLACK, static_cast<unsigned long>(before_)); }
    ExactTimers(const ExactTimers&) = delete;
    ExactTimers& operator=(const ExactTimers&) = delete;

  private:
    int before_;
};

// When each frame, which carries its own number, came to its end.
struct Arrivals {
    std::vector<Clock::time_point> times;
    std::atomic<std::uint64_t> count{0};

    void note(std::int64_t frame) {
        times.at(static_cast<std::size_t>(frame)) = Clock::now();
        ++count;
    }
};

TaskOptions options_of(const ChainTask& task) {
    return {.replication = task.replicable ? Replication::shared : Replication::sequential};
}

std::vector<double> waits_of(const Schedule& schedule, const Chain& chain) {
    std::vector<double> waits_us;
    for (const Stage& stage : schedule.stages) {
        const std::size_t kind = chain.kind_index(stage.core_kind);
        for (std::size_t i = 0; i < stage.task_count; ++i) {
            waits_us.push_back(chain.tasks[stage.first_task + i].weight_us[kind]);
        }
    }
    return waits_us;
}

void build(Graph& graph, const Chain& chain, const std::vector<double>& waits_us, Arrivals& arrivals) {
    const auto name = [](std::size_t i) { return fmt::format("wait{}", i + 1); };
    std::int64_t next = 0;
    const auto& source = graph.add(
        task(name(0), {}, out<std::int64_t>("frame"), [next, wait = waits_us[0]](auto frame) mutable {
            frame[0] = next++;
            wait_us(wait);
        }));
    const Module* before = &source;
    for (std::size_t i = 1; i < waits_us.size(); ++i) {
        const bool last = i + 1 == waits_us.size();
        const auto& added =
            graph.add(task(name(i), options_of(chain.tasks[i]), forward<std::int64_t>("frame"),
                           [wait = waits_us[i], end = last ? &arrivals : nullptr](auto frame) {
                               wait_us(wait);
                               if (end) end->note(frame[0]);
                           }));
        graph.bind((*before)["frame"], added["frame"]);
        before = &added;
    }
}

}  // namespace

Profile stretched(Profile profile, const Schedule& schedule, double to_period_us) {
    const double factor = to_period_us / period_us(schedule, profile);
    for (ChainTask& task : profile.tasks) {
        for (double& weight_us : task.weight_us) weight_us *= factor;
    }
    return profile;
}

double waiting_period_us(const Schedule& schedule, const Chain& chain, std::uint64_t frames) {
    Arrivals arrivals{std::vector<Clock::time_point>(frames)};
    Graph graph("waiting");
    build(graph, chain, waits_of(schedule, chain), arrivals);
    Schedule nameless = schedule;  // the graph's tasks have names of their own
    nameless.task_names.clear();
    const ExactTimers exact;
    Pipeline(graph, nameless).run({.frames = frames});
    if (arrivals.count != frames) {
        throw JobFailed(fmt::format("{} frames arrived of {}", arrivals.count.load(), frames));
    }
    const std::uint64_t half = frames / 2;
    const std::chrono::duration<double, std::micro> time =
        arrivals.times[frames - 1] - arrivals.times[half - 1];
    return time.count() / static_cast<double>(frames - half);
}

}  // namespace tidemill::cli
