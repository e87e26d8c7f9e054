#include "tidemill/dvbs2/search/tuning_plan.hpp"

#include <cmath>

namespace tidemill::dvbs2 {

namespace {

// Reach of the receiver's front by itself, in symbol rates from the middle, with room to spare.
constexpr double kFrontReach = 0.2;
constexpr double kFrontLeast = 2, kFrontMost = 16;

bool front_suffices(double ratio, const TuningPlan& plan, const TuningRequest& wish) {
    if (ratio < kFrontLeast || ratio > kFrontMost || wish.offset_hz.value_or(0) != 0) return false;
    if (!plan.seen) return true;
    return plan.seen->neighbour_hz == 0 &&
           std::abs(plan.seen->offset_hz) <= kFrontReach * wish.symbol_rate_hz;
}

// A carrier that lies beside the named frequency by more than its width is not the one that was meant: that
// one is hidden, or has not begun.
bool is_another(const ObservedCarrier& seen, const TuningRequest& wish) {
    return wish.offset_hz &&
           std::abs(seen.offset_hz - *wish.offset_hz) > (1 + wish.rolloff) * wish.symbol_rate_hz;
}

}  // namespace

TuningPlan plan_tuning(io::SampleSource& source, const TuningRequest& wish) {
    const double near_hz = wish.offset_hz.value_or(0);
    Tuning tuning{.symbol_rate_hz = wish.symbol_rate_hz, .rolloff = wish.rolloff, .offset_hz = near_hz};
    const double sample_rate_hz = source.sample_rate_hz().value_or(0);
    check_tuning(sample_rate_hz, tuning);
    TuningPlan plan{
        .seen = look_for_carrier(
            source, {.symbol_rate_hz = wish.symbol_rate_hz, .rolloff = wish.rolloff, .near_hz = near_hz})};
    if (plan.seen && is_another(*plan.seen, wish)) plan.seen.reset();
    if (front_suffices(sample_rate_hz / wish.symbol_rate_hz, plan, wish)) return plan;
    if (plan.seen) {
        tuning.offset_hz = plan.seen->offset_hz;
        tuning.neighbour_hz = plan.seen->neighbour_hz;
    }
    plan.tuning = tuning;
    return plan;
}

}  // namespace tidemill::dvbs2
