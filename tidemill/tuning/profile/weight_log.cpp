#include "tidemill/tuning/profile/weight_log.hpp"

#include <algorithm>
#include <cmath>

#include "tidemill/machine/tick_clock.hpp"
#include "tidemill/runtime/execute/late.hpp"

namespace tidemill {

ThreadObserver& WeightLog::watch(const ObservedThread& thread) {
    plan_ = &thread.plan;
    has_looked_ = false;  // it may be another thread than before
    return *this;
}

// A thread that loses its core does so for longer than this, and asking takes a tenth of it.
void WeightLog::called(const ObservedCall& call) {
    static const auto kWorthALook = static_cast<std::uint64_t>(10'000 / ns_per_tick());
    if (frames_ == 0 || call.born != born_) {
        born_ = call.born;
        ++frames_;
    }
    std::uint64_t ticks = call.end - call.start;
    if (ticks >= kWorthALook) ticks = look(call, ticks);
    costs_[call.step].add(frames_ - 1, ticks);
}

// Time that the call took of its core. A source that waits does so for what paces it.
std::uint64_t WeightLog::look(const ObservedCall& call, std::uint64_t ticks) {
    const auto at_most = [ticks](std::int64_t ns) {
        return std::min(ticks, static_cast<std::uint64_t>(static_cast<double>(ns) / ns_per_tick()));
    };
    const ThreadTime now = thread_time();
    const ThreadTime before = has_looked_ ? last_look_ : now;
    last_look_ = now;
    has_looked_ = true;
    const bool has_waited = now.waits != before.waits;
    if (has_waited && is_source(*plan_, plan_->steps[call.step], call.module))
        paced_ticks_[call.step] += at_most(now.off_core_ns - before.off_core_ns);
    return ticks - at_most(preempted_ns(before, now));
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
            weight.pace_us += us(static_cast<double>(paced_ticks_[step]) / static_cast<double>(frames_));
        }
        weight.error_us = std::sqrt(squares);
        weight.pace_us = std::min(weight.pace_us, weight.weight_us);
    }
    return weights;
}

}  // namespace tidemill
