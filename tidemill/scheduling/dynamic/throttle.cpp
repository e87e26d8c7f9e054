#include "tidemill/scheduling/dynamic/throttle.hpp"

#include "tidemill/scheduling/dynamic/policy_error.hpp"

namespace tidemill::policy {

Throttle::Throttle(const Window& window) : window_(window) {
    if (window.iterations > 0 && window.tasks > 0 && window.bytes > 0) return;
    throw PolicyError(
        "a window of 0 lets no task run: give at least one iteration, task and byte, or no limit");
}

bool Throttle::admits(std::uint64_t iteration, std::uint64_t bytes) const {
    const std::uint64_t oldest = tasks_ == 0 ? iteration : oldest_;
    return iteration - oldest < window_.iterations && tasks_ < window_.tasks &&
           bytes <= window_.bytes - bytes_;
}

void Throttle::created(std::uint64_t iteration, std::uint64_t bytes) {
    current_ = iteration;
    pass_finished();
    make_room(iteration);
    ++unfinished(iteration);
    ++tasks_;
    bytes_ += bytes;
}

void Throttle::completed(std::uint64_t iteration) {
    --unfinished(iteration);
    --tasks_;
    pass_finished();
}

void Throttle::make_room(std::uint64_t iteration) {
    while (iteration - oldest_ >= unfinished_.size()) {
        std::vector<std::uint32_t> larger(2 * unfinished_.size());
        for (std::uint64_t i = oldest_; i < oldest_ + unfinished_.size(); ++i) {
            larger[i & (larger.size() - 1)] = unfinished(i);
        }
        unfinished_.swap(larger);
    }
}

void Throttle::pass_finished() {
    if (tasks_ == 0) {
        oldest_ = current_;
        return;
    }
    while (oldest_ < current_ && unfinished(oldest_) == 0) ++oldest_;
}

}  // namespace tidemill::policy
