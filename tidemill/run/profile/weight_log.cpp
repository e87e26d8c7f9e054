#include "tidemill/run/profile/weight_log.hpp"

#include <algorithm>
#include <cmath>

#include "tidemill/platform/tick_clock.hpp"

namespace tidemill {

ThreadObserver& WeightLog::watch(const ObservedThread& /*thread*/) {
    has_looked_ = false;  // it may be another thread than before
    return *this;
}

// Whoever loses its core does so for longer than this, and asking takes a tenth of it.
void WeightLog::called(const ObservedCall& call) {
    static const auto kWorthALook = static_cast<std::uint64_t>(10'000 / ns_per_tick());
    if (frames_ == 0 || call.born != born_) {
        born_ = call.born;
        ++frames_;
    }
    std::uint64_t ticks = call.end - call.start;
    if (ticks >= kWorthALook) ticks -= std::min(ticks, preempted_ticks());
    costs_[call.step].add(frames_ - 1, ticks);
}

std::uint64_t WeightLog::preempted_ticks() {
    const ThreadTime now = thread_time();
    const std::int64_t lost_ns = has_looked_ ? preempted_ns(last_look_, now) : 0;
    last_look_ = now;
    has_looked_ = true;
    return static_cast<std::uint64_t>(static_cast<double>(lost_ns) / ns_per_tick());
}

std::vector<UnitWeight> WeightLog::weights() const {
    const auto us = [](double ticks) { return ticks * ns_per_tick() / 1000; };
    std::vector<UnitWeight> weights;
    for (const ScheduledUnit& unit : structure_.units) {
        UnitWeight& weight = weights.emplace_back();
        double squares = 0;
        for (const std::uint32_t step : unit.tasks) {
            if (frames_ == 0 || costs_[step].calls() == 0) continue;
            const CostPerFrame cost = costs_[step].per_frame(frames_);
            weight.weight_us += us(cost.mean);
            weight.once_us += us(cost.once);
            weight.p99_us = std::max(weight.p99_us, us(cost.p99));
            squares += us(cost.error) * us(cost.error);
        }
        weight.error_us = std::sqrt(squares);
    }
    return weights;
}

}  // namespace tidemill
