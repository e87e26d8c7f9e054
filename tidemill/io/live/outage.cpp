#include "tidemill/io/live/outage.hpp"

#include <algorithm>
#include <cmath>

namespace tidemill::io {

namespace {

constexpr std::int64_t kFirstPauseNs = 500'000'000;  // before it is opened again
constexpr std::int64_t kLongestPauseNs = 30'000'000'000;
constexpr double kMostOutageSilenceS = 1;

}  // namespace

Outage::Outage(double sample_rate_hz, std::int64_t last_came_ns, std::int64_t now_ns)
    : sample_rate_hz_(sample_rate_hz),
      counted_ns_(last_came_ns),
      next_try_ns_(now_ns + kFirstPauseNs),
      pause_ns_(kFirstPauseNs) {}

void Outage::tried_in_vain(std::int64_t now_ns) {
    pause_ns_ = std::min(2 * pause_ns_, kLongestPauseNs);
    next_try_ns_ = now_ns + pause_ns_;
}

Outage::Missing Outage::count(std::int64_t now_ns) {
    const double before = std::floor(samples_);
    samples_ += static_cast<double>(now_ns - counted_ns_) * 1e-9 * sample_rate_hz_;
    counted_ns_ = now_ns;
    const double more = std::floor(samples_) - before;
    const double silence = std::min(more, std::floor(kMostOutageSilenceS * sample_rate_hz_) - silence_);
    silence_ += silence;
    return {static_cast<std::uint64_t>(more), static_cast<std::uint64_t>(silence)};
}

}  // namespace tidemill::io
