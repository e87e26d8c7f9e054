#pragma once

#include <mutex>
#include <utility>

#include "tidemill/runtime/execute/run_state.hpp"

namespace tidemill {

template <typename Threads, typename Error>
BasicRunState<Threads, Error>::BasicRunState(const std::vector<RingShape>& rings, bool sleepy) {
    for (const RingShape& ring : rings) rings_.emplace_back(ring.layout, ring.stages, sleepy);
}

template <typename Threads, typename Error>
bool BasicRunState<Threads, Error>::may_begin(std::uint64_t batch) {
    std::uint64_t seen = begun_.load(std::memory_order_relaxed);
    do {
        if (batch < (seen & ~kShut)) return true;
        if (seen & kShut) return false;
    } while (!begun_.compare_exchange_weak(seen, batch + 1, std::memory_order_relaxed));
    return true;
}

template <typename Threads, typename Error>
std::uint64_t BasicRunState<Threads, Error>::shut_source() {
    return begun_.fetch_or(kShut, std::memory_order_relaxed);
}

// Frames that a segment's last task has emitted came before the input it works on now: all that lies upstream
// of `segment` may be dropped at once, while later segments finish.
template <typename Threads, typename Error>
void BasicRunState<Threads, Error>::end_before(std::uint32_t segment, std::uint64_t frame,
                                               std::optional<Error> error) {
    note({segment, frame, std::move(error)});
    for (std::uint32_t upstream = 0; upstream < segment; ++upstream) rings_[upstream].lower_limit(0);
    rings_[segment].lower_limit(frame);
    end();
}

// The sequence would have met the end in the last segment first, and there the smallest frame's.
template <typename Threads, typename Error>
void BasicRunState<Threads, Error>::note(Outcome outcome) {
    const std::lock_guard lock(mutex_);
    const std::optional<Outcome>& noted = outcome_;
    const bool first = !noted || outcome.segment > noted->segment ||
                       (outcome.segment == noted->segment && outcome.frame < noted->frame);
    if (first) outcome_ = std::optional(std::move(outcome));
}

template <typename Threads, typename Error>
void BasicRunState<Threads, Error>::rethrow() const {
    const std::optional<Outcome> noted = outcome();
    if (noted && noted->error) noted->error->raise();
}

}  // namespace tidemill
