#include "tidemill/run/durations.hpp"

#include <cmath>
#include <numeric>

#include "tidemill/platform/tick_clock.hpp"

namespace tidemill {

void Durations::add(const Durations& other) {
    sum_ += other.sum_;
    least_ = std::min(least_, other.least_);
    most_ = std::max(most_, other.most_);
    for (std::size_t b = 0; b < buckets_.size(); ++b) buckets_[b] += other.buckets_[b];
}

std::uint64_t Durations::count() const {
    return std::accumulate(buckets_.begin(), buckets_.end(), std::uint64_t{0});
}

double Durations::quantile(double share) const {
    const double all = static_cast<double>(count());
    if (all == 0) return 0;
    const auto rank = static_cast<std::uint64_t>(std::max(1.0, std::ceil(share * all)));
    std::uint64_t seen = 0;
    std::size_t bucket = 0;
    while ((seen += buckets_[bucket]) < rank && bucket + 1 < buckets_.size()) ++bucket;
    // The extremes are known exactly: no percentile lies outside of them.
    return std::clamp(middle_of(bucket), static_cast<double>(least_), static_cast<double>(most_));
}

double Durations::middle_of(std::size_t bucket) {
    if (bucket < kFine) return static_cast<double>(bucket);
    const int shift = static_cast<int>(bucket >> kFineBits) - 1;
    const double width = std::ldexp(1.0, shift);
    const double low = static_cast<double>(kFine + bucket % kFine) * width;
    return low + (width - 1) / 2;
}

DurationReport report_of(const Durations& durations) {
    const auto us = [](double ticks) { return ticks * ns_per_tick() / 1000; };
    DurationReport report;
    report.count = durations.count();
    if (report.count == 0) return report;
    report.total_us = us(static_cast<double>(durations.sum()));
    report.mean_us = report.total_us / static_cast<double>(report.count);
    report.least_us = us(static_cast<double>(durations.least()));
    report.p50_us = us(durations.quantile(0.50));
    report.p90_us = us(durations.quantile(0.90));
    report.p99_us = us(durations.quantile(0.99));
    report.most_us = us(static_cast<double>(durations.most()));
    return report;
}

}  // namespace tidemill
