#include "tidemill/tuning/profile/busy_log.hpp"

#include <algorithm>
#include <ranges>

#include "tidemill/runtime/execute/late.hpp"
#include "tidemill/runtime/graph/plan.hpp"

namespace tidemill {

namespace {

double us(std::int64_t ns) {
    return static_cast<double>(ns) / 1000;
}

}  // namespace

ThreadObserver& BusyLog::watch(const ObservedThread& thread) {
    return seats_.emplace_back(*this, sources_of(thread.plan));
}

std::vector<TaskId> BusyLog::sources_of(const Plan& plan) const {
    std::vector<TaskId> sources;
    for (const Step& step : plan.steps)
        if (is_source(plan, step, graph_.module(step.task.id.module))) sources.push_back(step.task.id);
    return sources;
}

BusyLog::Busy& BusyLog::of_this_thread() {
    const std::lock_guard lock(mutex_);
    return threads_[std::this_thread::get_id()];
}

void BusyLog::Seat::calling(const OrderedTask& task, std::uint64_t /*frame*/) {
    if (!busy_) busy_ = &log_.of_this_thread();
    source_began_.reset();
    if (std::ranges::find(sources_, task.id) != sources_.end()) source_began_ = thread_time();
    began_ns_ = thread_run_ns();
}

void BusyLog::Seat::called(const ObservedCall& /*call*/) {
    const std::int64_t now_ns = thread_run_ns();
    busy_->run_ns += now_ns - std::exchange(began_ns_, now_ns);
    if (!source_began_) return;
    const ThreadTime now = thread_time();
    const ThreadTime before = *std::exchange(source_began_, std::nullopt);
    // Without a wait of its own it was pre-empted, which paces nothing.
    if (now.waits != before.waits) busy_->sources_waited_ns += now.off_core_ns - before.off_core_ns;
}

double BusyLog::busiest_us() const {
    std::int64_t most_ns = 0;
    for (const Busy& busy : std::views::values(threads_)) most_ns = std::max(most_ns, busy.run_ns);
    return us(most_ns);
}

double BusyLog::sources_waited_us() const {
    std::int64_t sum_ns = 0;
    for (const Busy& busy : std::views::values(threads_)) sum_ns += busy.sources_waited_ns;
    return us(sum_ns);
}

}  // namespace tidemill
