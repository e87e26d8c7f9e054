#include "tidemill/runtime/report/durations.hpp"

#include <cmath>
#include <numeric>

#include "tidemill/machine/tick_clock.hpp"

namespace tidemill {

void Durations::add(const Durations& other) {
    const Durations all = other.settled();
    settle();
    sum_ += all.sum_;
    least_ = std::min(least_, all.least_);
    most_ = std::max(most_, all.most_);
    for (std::size_t b = 0; b < buckets_.size(); ++b) buckets_[b] += all.buckets_[b];
}

void Durations::settle() {
    for (std::uint64_t r = 0; r < recent_count_; ++r) {
        const std::uint64_t ticks = recent_[r];
        sum_ += ticks;
        least_ = std::min(least_, ticks);
        most_ = std::max(most_, ticks);
        ++buckets_[bucket_of(ticks)];
    }
    recent_count_ = 0;
}

Durations Durations::settled() const {
    Durations copy = *this;
    copy.settle();
    return copy;
}

std::uint64_t Durations::count() const {
    return std::accumulate(buckets_.begin(), buckets_.end(), recent_count_);
}

std::uint64_t Durations::sum() const {
    return settled().sum_;
}

std::uint64_t Durations::least() const {
    return count() > 0 ? settled().least_ : 0;
}

std::uint64_t Durations::most() const {
    return settled().most_;
}

double Durations::quantile(double share) const {
    const Durations all = settled();
    if (all.count() == 0) return 0;
    const double wanted = std::ceil(share * static_cast<double>(all.count()));
    const auto rank = static_cast<std::uint64_t>(std::max(1.0, wanted));
    std::uint64_t seen = 0;
    std::size_t bucket = 0;
    while ((seen += all.buckets_[bucket]) < rank && bucket + 1 < all.buckets_.size()) ++bucket;
    // The extremes are known exactly: no percentile lies outside of them.
    return std::clamp(middle_of(bucket), static_cast<double>(all.least_), static_cast<double>(all.most_));
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
