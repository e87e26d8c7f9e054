#include "tidemill/tuning/profile/recurring_cost.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace tidemill {

namespace {

// Ratio of calls that are about as long as each other.
constexpr double kAlike = 0.6;

template <class Calls>
double sum_of(const Calls& calls) {
    double sum = 0;
    for (const auto& call : calls) sum += static_cast<double>(call.ticks);
    return sum;
}

template <class Calls>
bool comes_back(const Calls& alike, std::uint64_t frames) {
    constexpr std::size_t kLeast = 3;
    return alike.size() >= kLeast && alike.back().frame - alike.front().frame > frames / 8;
}

// How often a frame has such a call: by the distance from one to the next where that is always the same.
template <class Calls>
double rate_of(const Calls& alike, std::uint64_t frames) {
    std::uint64_t least = frames;
    std::uint64_t most = 0;
    for (std::size_t i = 1; i < alike.size(); ++i) {
        const std::uint64_t distance = alike[i].frame - alike[i - 1].frame;
        least = std::min(least, distance);
        most = std::max(most, distance);
    }
    const auto calls = static_cast<double>(alike.size());
    if (most > least + least / 8) return calls / static_cast<double>(frames);
    return (calls - 1) / static_cast<double>(alike.back().frame - alike.front().frame);
}

}  // namespace

void RecurringCost::add(std::uint64_t frame, std::uint64_t ticks) {
    calls_.add(ticks);
    keep_if_long({frame, ticks});
    while (frame / part_frames_ >= kMostParts) widen();
    const auto part = static_cast<std::size_t>(frame / part_frames_);
    if (part >= parts_.size()) parts_.resize(part + 1);
    parts_[part] += static_cast<double>(ticks);
}

void RecurringCost::keep_if_long(const Call& call) {
    const auto shorter_first = [](const Call& a, const Call& b) { return a.ticks > b.ticks; };
    if (longest_.size() == kMostLong) {
        if (call.ticks <= longest_.front().ticks) return;
        std::ranges::pop_heap(longest_, shorter_first);
        longest_.pop_back();
    }
    longest_.push_back(call);
    std::ranges::push_heap(longest_, shorter_first);
}

void RecurringCost::widen() {
    for (std::size_t i = 0; i < parts_.size(); ++i) {
        const double ticks = std::exchange(parts_[i], 0);
        parts_[i / 2] += ticks;
    }
    parts_.resize((parts_.size() + 1) / 2);
    part_frames_ *= 2;
}

// The longest first.
RecurringCost::Calls RecurringCost::far_longer_than_usual() const {
    const double limit = 8 * std::max(1.0, calls_.quantile(0.5));
    Calls calls = longest_;
    std::erase_if(calls, [&](const Call& call) { return static_cast<double>(call.ticks) <= limit; });
    std::ranges::sort(calls, [](const Call& a, const Call& b) { return a.ticks > b.ticks; });
    return calls;
}

CostPerFrame RecurringCost::per_frame(std::uint64_t frames) const {
    const auto all = static_cast<double>(frames);
    const Calls far_longer = far_longer_than_usual();
    const double usual_calls = static_cast<double>(calls_.count() - far_longer.size());
    const double usual_sum = static_cast<double>(calls_.sum()) - sum_of(far_longer);
    CostPerFrame cost{.mean = usual_sum / all, .p99 = calls_.quantile(0.99)};
    const double usual = usual_calls > 0 ? usual_sum / usual_calls : 0;
    Calls once;
    for (auto first = far_longer.begin(); first != far_longer.end();) {
        const auto next = std::find_if(first, far_longer.end(), [&](const Call& call) {
            return static_cast<double>(call.ticks) < kAlike * static_cast<double>(first->ticks);
        });
        Calls alike(first, next);
        first = next;
        std::ranges::sort(alike, {}, &Call::frame);
        const auto calls = static_cast<double>(alike.size());
        // The shortest of those that are kept are only some of all that are alike.
        if (first == far_longer.end() && far_longer.size() == kMostLong) {
            cost.mean += sum_of(alike) / all;
        } else if (comes_back(alike, frames)) {
            cost.mean += sum_of(alike) / calls * rate_of(alike, frames);
        } else {
            cost.mean += usual * calls / all;
            cost.once += sum_of(alike) - usual * calls;
            once.insert(once.end(), alike.begin(), alike.end());
        }
    }
    cost.error = standard_error(frames, once, usual);
    return cost;
}

// By how much the means of equal parts differ.
double RecurringCost::standard_error(std::uint64_t frames, const Calls& once, double usual) const {
    std::vector<double> means = parts_;
    means.resize(static_cast<std::size_t>(frames / part_frames_));  // the last one may be incomplete
    for (const Call& call : once) {
        const auto part = static_cast<std::size_t>(call.frame / part_frames_);
        if (part < means.size()) means[part] -= static_cast<double>(call.ticks) - usual;
    }
    if (means.size() < 2) return 0;
    const auto count = static_cast<double>(means.size());
    const double mean = std::accumulate(means.begin(), means.end(), 0.0) / count;
    double squares = 0;
    for (const double each : means) squares += (each - mean) * (each - mean);
    return std::sqrt(squares / (count - 1) / count) / static_cast<double>(part_frames_);
}

}  // namespace tidemill
