#include "tidemill/run/profile/busy_weights.hpp"

#include <chrono>
#include <deque>

#include "tidemill/run/pipeline.hpp"
#include "tidemill/run/profile/weight_log.hpp"
#include "tidemill/schedule/herad.hpp"

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

}  // namespace

std::vector<double> busy_weights_us(Graph& graph, const Profile& alone, const CoreKind& kind, int cores,
                                    const Topology& topology, double seconds) {
    constexpr std::uint64_t kLeastFrames = 50;
    if (cores < 2) return {};
    Platform platform;
    platform.set(kind.name, cores);
    const Schedule schedule = herad(alone, platform);
    if (schedule.thread_count() < 2) return {};
    Pipeline pipeline(graph, schedule, {.topology = &topology, .ring_depth = 4, .waiting = WaitMode::mixed});
    ThreadLogs logs(pipeline.structure());
    const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
    const RunReport report = pipeline.run(
        {.stop_when = [&] { return std::chrono::steady_clock::now() >= end; }, .observers = {&logs}});
    return report.frames >= kLeastFrames ? logs.weights_us(report.frames) : std::vector<double>();
}

}  // namespace tidemill
