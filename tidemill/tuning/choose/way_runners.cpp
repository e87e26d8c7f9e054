#include "tidemill/tuning/choose/way_runners.hpp"

#include <algorithm>
#include <cmath>

#include "tidemill/runtime/dynamic/dynamic_engine.hpp"
#include "tidemill/runtime/execute/engine.hpp"
#include "tidemill/runtime/execute/pipeline_cut.hpp"
#include "tidemill/tuning/choose/dynamic_workers.hpp"
#include "tidemill/tuning/choose/run_candidates.hpp"

namespace tidemill {

WayRunners::WayRunners(Graph& graph, const Structure& structure, const RunConfig& how,
                       const Topology& topology)
    : graph_(graph),
      how_(how),
      topology_(topology),
      in_order_(std::make_shared<Engine>(graph, cut_in_order(structure))) {}

std::shared_ptr<StretchRunner> WayRunners::make(const Choice::Way& way) const {
    if (way.executor == ExecutorKind::dynamic) {
        RunConfig how = how_;
        how.executor = ExecutorKind::dynamic;
        how.policy = way.policy;
        return std::make_shared<DynamicEngine>(graph_, dynamic_workers(how, topology_));
    }
    if (!way.schedule) return in_order_;
    const bool is_pinned = how_.pinned && way.executor == ExecutorKind::pipeline;
    const PipelineOptions options{
        .topology = is_pinned ? &topology_ : nullptr,
        .ring_depth = how_.ring_depth,
        .waiting = how_.waiting.value_or(is_pinned ? WaitMode::mixed : WaitMode::passive)};
    Schedule schedule = *way.schedule;
    if (near_cores_) near_cores_->place(schedule);
    return std::make_shared<Engine>(graph_, cut_of(graph_, schedule, options));
}

void WayRunners::measure_hand_overs() {
    if (how_.pinned) near_cores_ = internal::NearCores::measured(topology_, *how_.scheduling.cores);
}

// In whole nanoseconds, since weights are exact decimals.
double WayRunners::hand_over_us() const {
    if (!near_cores_ || !near_cores_->hand_over_us()) return internal::kUsualHandOverUs;
    return std::round(1000 * *near_cores_->hand_over_us()) / 1000;
}

std::vector<FarCuts> WayRunners::far_cuts() const {
    return near_cores_ ? near_cores_->far_cuts() : std::vector<FarCuts>();
}

std::uint64_t WayRunners::in_flight(const Choice::Way& way) const {
    constexpr std::uint64_t kMostOfWorkers = 64;  // without any window: see DynamicOptions
    if (way.executor == ExecutorKind::sequence) return 1;
    if (!way.schedule) return std::min(how_.window.iterations, kMostOfWorkers);
    std::uint64_t frames = 0;
    for (const Stage& stage : way.schedule->stages) frames += stage.frames_held() + how_.ring_depth;
    return frames;
}

}  // namespace tidemill
