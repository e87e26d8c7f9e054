#include "tidemill/dvbs2/sync/internal/frame_grid.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <set>

namespace tidemill::dvbs2::internal {

namespace {

constexpr double kLeastMissing = 0.12;  // symbols: five times what a clock at rest is off by
constexpr double kSettling = 0.75;      // by so much a frame while it comes to rest, from half a symbol off
constexpr double kRest = 24576;         // which takes the clock's loop so many symbols
constexpr double kSlack = 1;            // nobody loses a frame but for less than a symbol
constexpr double kMemory = 524288;      // symbols from which the period is learned
constexpr std::size_t kMostKinds = 8;
// Headers farther apart may be another signal's. Where frames have several lengths, these add up to almost
// anything soon.
constexpr double kMostFrames = 4, kMostFramesOfKinds = 2;
// The grid reaches so many times as far as the period was learned from: what that is off by has grown to a
// tenth of a symbol then.
constexpr double kTimesLearned = 4;

}  // namespace

MissingSymbols FrameGrid::step(const HeardSymbols& heard, const FoundFrame& frame) {
    const double at = heard.places.at(frame.start);
    know(frame.length);
    const MissingSymbols told = before_.length > 0 ? go_on(heard, frame, at) : MissingSymbols{};
    before_ = frame;
    before_at_ = at;
    return told;
}

MissingSymbols FrameGrid::go_on(const HeardSymbols& heard, const FoundFrame& frame, double at) {
    const double places = at - before_at_;
    if (learned_ == 0) return begin_to_learn(heard, frame, places);
    if (!is_near(places) && !is_within_reach(places)) return settle();
    const double sent = sent_at_least(places);
    if (std::abs(sent - places) > (broken_ ? kSettling : kLeastMissing)) {
        const MissingSymbols told = settle();
        const double place = heard.places.leap(before_.start, frame.start).value_or((before_at_ + at) / 2);
        broken_ = {before_at_, before_.length * period_, place, at, sent, is_near(places) ? 0U : 1U, 0};
        return told;
    }
    if (!is_near(places)) return settle();
    if (!broken_) {
        learn(sent, places);
        return {};
    }
    broken_->sent += sent;
    ++broken_->behind;
    return at - broken_->behind_at < kRest ? MissingSymbols{} : settle(at);
}

// From two frames one behind the other: by the most that a clock may be off, frames differ by whole symbols.
MissingSymbols FrameGrid::begin_to_learn(const HeardSymbols& heard, const FoundFrame& frame, double places) {
    if (frame.start == before_.end() && !heard.places.leap(before_.start, frame.start)) {
        learned_ = before_.length;
        period_ = places / learned_;
    }
    return {};
}

MissingSymbols FrameGrid::settle(double at) {
    if (!broken_) return {};
    const MissingSymbols found{broken_->sent - (at - broken_->before_at),
                               broken_->frame,
                               broken_->place,
                               broken_->before_at,
                               broken_->behind_at,
                               broken_->doubtful};
    const bool is_sure = broken_->behind > 0 && found.count > kLeastMissing;
    broken_.reset();
    return is_sure ? found : MissingSymbols{};
}

double FrameGrid::longest_known() const {
    return *std::ranges::max_element(kinds_);
}

bool FrameGrid::is_near(double places) const {
    return places <= (kinds_.size() == 1 ? kMostFrames : kMostFramesOfKinds) * longest_known();
}

bool FrameGrid::is_within_reach(double places) const {
    return kinds_.size() == 1 && places < kTimesLearned * learned_;
}

// From the frame before on whole frames follow, of those lengths that there were.
double FrameGrid::sent_at_least(double places) const {
    std::set<int> sums{before_.length};
    for (auto sum = sums.begin();; ++sum) {
        if (*sum * period_ > places - kSlack) return *sum * period_;
        for (const int kind : kinds_) sums.insert(*sum + kind);
    }
}

void FrameGrid::learn(double sent, double places) {
    const double symbols = sent / period_;
    learned_ = std::min(learned_ + symbols, kMemory);
    period_ += (places - sent) / learned_;
}

void FrameGrid::know(int length) {
    if (std::ranges::find(kinds_, length) != kinds_.end()) return;
    if (kinds_.size() == kMostKinds) kinds_.erase(kinds_.begin());
    kinds_.push_back(length);
}

}  // namespace tidemill::dvbs2::internal
