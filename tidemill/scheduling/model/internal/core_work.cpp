#include "tidemill/scheduling/model/internal/core_work.hpp"

#include <algorithm>

namespace tidemill::internal {

double CoreWork::speed(std::size_t kind) const {
    return 1 / slowdown(cores_[kind], (kinds_[kind].busy_halves + 1) / 2);
}

// The end of the last kind comes first among those at the same time.
CoreWork::NextEnd CoreWork::next_end() const {
    NextEnd next;
    for (std::size_t kind = 0; kind < kinds_.size(); ++kind) {
        if (kinds_[kind].ends.empty()) continue;
        const double left_us = kinds_[kind].ends.top().time - kinds_[kind].work_done_us;
        const double end_us = now_us_ + std::max(left_us, 0.0) / speed(kind);
        if (end_us <= next.time_us) next = {end_us, kind};
    }
    return next;
}

void CoreWork::pass_time_until(double time_us) {
    for (std::size_t kind = 0; kind < kinds_.size(); ++kind) {
        if (kinds_[kind].busy_halves > 0) kinds_[kind].work_done_us += (time_us - now_us_) * speed(kind);
    }
    now_us_ = time_us;
}

void CoreWork::begin(std::size_t kind, int halves, double work_us, std::uint64_t order, Step step) {
    kinds_[kind].busy_halves += halves;
    kinds_[kind].ends.push({kinds_[kind].work_done_us + work_us, order, {step, halves}});
}

Step CoreWork::end(std::size_t kind) {
    Kind& ending = kinds_[kind];
    const auto [step, halves] = ending.ends.top().what;
    ending.work_done_us = ending.ends.top().time;  // leaves no rounding behind
    ending.ends.pop();
    ending.busy_halves -= halves;
    return step;
}

}  // namespace tidemill::internal
