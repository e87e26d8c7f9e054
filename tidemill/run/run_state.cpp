#include "tidemill/run/run_state.hpp"

#include <utility>

namespace tidemill {

RunState::RunState(const Plan& plan, const std::vector<std::size_t>& tokens, std::uint32_t batch,
                   bool sleepy) {
    for (std::size_t s = 0; s < plan.segments.size(); ++s) {
        rings_.emplace_back(TokenLayout{tokens[s], batch, plan.segments[s].token_bytes},
                            plan.segments[s].stages, sleepy);
    }
}

bool RunState::may_begin(std::uint64_t batch) {
    std::uint64_t seen = begun_.load(std::memory_order_relaxed);
    do {
        if (batch < (seen & ~kShut)) return true;
        if (seen & kShut) return false;
    } while (!begun_.compare_exchange_weak(seen, batch + 1, std::memory_order_relaxed));
    return true;
}

std::uint64_t RunState::shut_source() {
    return begun_.fetch_or(kShut, std::memory_order_relaxed);
}

void RunState::stop_before(std::uint32_t segment, std::uint64_t frame) {
    end_before({segment, frame, {}});
}

void RunState::fail(std::uint32_t segment, std::uint64_t frame, FrameError error) {
    end_before({segment, frame, std::move(error)});
}

// What a segment's last task has emitted came before the input it works on now: all that lies upstream of
// `segment` may be dropped at once, while later segments finish. For the same reason the sequence would have
// met the end in the last segment first, and there the smallest frame's.
void RunState::end_before(Outcome outcome) {
    const auto [segment, frame] = std::pair{outcome.segment, outcome.frame};
    {
        const std::lock_guard lock(mutex_);
        const bool first = !outcome_ || segment > outcome_->segment ||
                           (segment == outcome_->segment && frame < outcome_->frame);
        if (first) outcome_.emplace(std::move(outcome));
    }
    for (std::uint32_t upstream = 0; upstream < segment; ++upstream) rings_[upstream].lower_limit(0);
    rings_[segment].lower_limit(frame);
    end();
}

void RunState::rethrow() const {
    if (outcome_ && outcome_->error) throw *outcome_->error;
}

}  // namespace tidemill
