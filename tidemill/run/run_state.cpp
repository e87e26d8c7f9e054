#include "tidemill/run/run_state.hpp"

namespace tidemill {

RunState::RunState(const Plan& plan, const std::vector<std::size_t>& tokens,
                   const std::vector<std::uint64_t>& first_frames, bool sleepy) {
    for (std::size_t s = 0; s < plan.segments.size(); ++s) {
        rings_.emplace_back(tokens[s], plan.segments[s].stages, plan.segments[s].token_bytes, first_frames[s],
                            sleepy);
    }
}

// What a segment's last task has emitted came before the input it works on now: all that lies upstream of
// `segment` may be dropped at once, while later segments finish.
void RunState::stop_before(std::uint32_t segment, std::uint64_t frame) {
    for (std::uint32_t upstream = 0; upstream < segment; ++upstream) rings_[upstream].lower_limit(0);
    rings_[segment].lower_limit(frame);
    end();
}

void RunState::fail(std::uint32_t segment, RunError error) {
    const std::uint64_t frame = error.frame();
    {
        const std::lock_guard lock(mutex_);
        const bool first = !failure_ || segment > failure_->segment ||
                           (segment == failure_->segment && frame < failure_->error.frame());
        if (first) failure_.emplace(Failure{segment, std::move(error)});
    }
    stop_before(segment, frame);
}

void RunState::rethrow() const {
    if (failure_) throw failure_->error;
}

}  // namespace tidemill
