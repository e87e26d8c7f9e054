#include "tidemill/tuning/profile/live_profile.hpp"

#include "tidemill/machine/tick_clock.hpp"

namespace tidemill {

LiveProfile::LiveProfile(const Structure& structure) : structure_(structure), taken_(totals()) {}

ThreadObserver& LiveProfile::watch(const ObservedThread& /*thread*/) {
    const std::lock_guard lock(mutex_);
    return threads_.emplace_back(structure_.order.size());
}

void LiveProfile::Thread::called(const ObservedCall& call) {
    const auto add = [](std::atomic<std::uint64_t>& sum, std::uint64_t more) {
        sum.store(sum.load(std::memory_order_relaxed) + more, std::memory_order_relaxed);
    };
    add(sums_[call.step].ticks, call.end - call.start);
    add(sums_[call.step].calls, 1);
}

LiveWindow LiveProfile::take(std::uint64_t least_frames) {
    const std::lock_guard lock(mutex_);
    const LiveWindow now = totals();
    LiveWindow window{now.frames - taken_.frames, now.weights_us};
    if (window.frames < least_frames) return {};
    for (std::size_t unit = 0; unit < window.weights_us.size(); ++unit) {
        window.weights_us[unit] -= taken_.weights_us[unit];
        window.weights_us[unit] /= static_cast<double>(window.frames);
    }
    taken_ = now;
    return window;
}

// Microseconds of all frames.
LiveWindow LiveProfile::totals() const {
    LiveWindow all;
    const std::uint32_t source = structure_.units.front().tasks.front();
    for (const ScheduledUnit& unit : structure_.units) {
        std::uint64_t ticks = 0;
        for (const std::uint32_t step : unit.tasks)
            for (const Thread& thread : threads_)
                ticks += thread.sum(step).ticks.load(std::memory_order_relaxed);
        all.weights_us.push_back(to_ns(ticks) / 1000);
    }
    for (const Thread& thread : threads_)
        all.frames += thread.sum(source).calls.load(std::memory_order_relaxed);
    all.frames /= structure_.order[source].firings;
    return all;
}

}  // namespace tidemill
