#include "tidemill/io/live/gap_finder.hpp"

#include <cmath>

namespace tidemill::io {

std::uint64_t GapFinder::before(const Block& block) {
    exact_ = block.time_ns && next_time_ns_;
    std::uint64_t missing = 0;
    if (any_ && exact_) missing = by_time(block);
    if (any_ && !exact_ && overflow_) missing = by_wall(block);
    overflow_ = false;
    since_first_ += static_cast<double>(missing);
    remember(block);
    return missing;
}

// A time that lies before the one expected says that somebody has set the radio's clock.
std::uint64_t GapFinder::by_time(const Block& block) const {
    const double ahead_ns = static_cast<double>(*block.time_ns - *next_time_ns_) - rest_ns_;
    return static_cast<std::uint64_t>(std::max(0.0, std::round(ahead_ns * per_ns_)));
}

// By how many samples what has come is behind the clock on the wall.
double GapFinder::late_by(const Block& block) const {
    return static_cast<double>(block.now_ns - first_now_ns_) * per_ns_ - since_first_ -
           static_cast<double>(block.samples);
}

// A wait anywhere makes samples late as well, so the least that they were late lately is what they are late
// by when nothing is missing. (Lately, because the two clocks do not run alike.)
std::uint64_t GapFinder::by_wall(const Block& block) {
    const double usual = std::min(least_late_, least_late_before_);
    return static_cast<std::uint64_t>(std::max(0.0, std::round(late_by(block) - usual)));
}

void GapFinder::remember(const Block& block) {
    constexpr std::int64_t kWindowNs = 2'000'000'000;
    if (!any_) {
        first_now_ns_ = window_ns_ = block.now_ns;
        least_late_ = least_late_before_ = -static_cast<double>(block.samples);
        any_ = true;
    }
    const double late = late_by(block);
    if (block.now_ns - window_ns_ > kWindowNs) {
        window_ns_ = block.now_ns;
        least_late_before_ = least_late_;
        least_late_ = late;
    }
    least_late_ = std::min(least_late_, late);
    since_first_ += static_cast<double>(block.samples);
    next_time_ns_ = {};
    if (!block.time_ns) return;
    const double lasts_ns = static_cast<double>(block.samples) / per_ns_;
    next_time_ns_ = *block.time_ns + static_cast<std::int64_t>(lasts_ns);
    rest_ns_ = lasts_ns - std::floor(lasts_ns);
}

}  // namespace tidemill::io
