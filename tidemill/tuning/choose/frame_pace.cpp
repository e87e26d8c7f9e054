#include "tidemill/tuning/choose/frame_pace.hpp"

#include <algorithm>

namespace tidemill::internal {

namespace {

constexpr std::chrono::milliseconds kPart{15};
constexpr std::size_t kParts = 8;
constexpr double kLeastFrames = 32;

}  // namespace

double FramePace::period_us(std::uint64_t frames, double alone_us) const {
    const std::chrono::duration<double, std::micro> elapsed = Clock::now() - start_;
    if (frames < 2 || elapsed.count() <= alone_us)
        return elapsed.count() / static_cast<double>(std::max<std::uint64_t>(1, frames));
    return (elapsed.count() - alone_us) / static_cast<double>(frames - 1);
}

void FirstFrames::asked() {
    if (is_over_) return;
    const auto frames = static_cast<std::uint64_t>(asked_++ * share_);
    if (frames < in_flight_) return;
    const Clock::time_point now = Clock::now();
    if (parts_.empty() || now - parts_.back().end >= kPart) parts_.push_back({frames, now});
    const auto least = static_cast<std::uint64_t>(kLeastFrames * share_) + in_flight_;
    is_over_ = parts_.size() > kParts && frames >= least;
}

std::optional<Forecast> FirstFrames::forecast() const {
    if (!is_over_) return std::nullopt;
    std::vector<double> periods_us;
    for (std::size_t i = 1; i < parts_.size(); ++i) periods_us.push_back(period_us(parts_[i - 1], parts_[i]));
    std::ranges::sort(periods_us);
    const double mean_us = period_us(parts_.front(), parts_.back());
    const double spread_us = (periods_us[periods_us.size() * 3 / 4] - periods_us[periods_us.size() / 4]) / 2;
    return Forecast{mean_us, (1 - kUnsure) * std::max(0.0, mean_us - spread_us),
                    (1 + kUnsure) * (mean_us + spread_us)};
}

double FirstFrames::later_period_us(std::uint64_t frames) const {
    const Part& last = parts_.back();
    return frames > last.frames ? period_us(last, {frames, Clock::now()}) : 0;
}

double FirstFrames::period_us(const Part& from, const Part& to) {
    const std::chrono::duration<double, std::micro> elapsed = to.end - from.end;
    return elapsed.count() / static_cast<double>(to.frames - from.frames);
}

}  // namespace tidemill::internal
