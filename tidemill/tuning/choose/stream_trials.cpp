#include "tidemill/tuning/choose/stream_trials.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "tidemill/runtime/graph/structure.hpp"

namespace tidemill {

namespace {

constexpr std::uint64_t kTurnFrames = 24;

bool is_cheap_to_look(const Structure& structure, double alone_us) {
    constexpr double kLookUs = 1;  // at a task's call
    constexpr double kCheap = 0.01;
    return kLookUs * static_cast<double>(structure.order.size()) < kCheap * alone_us;
}

}  // namespace

StreamTrials::StreamTrials(const Graph& graph, std::vector<Candidate> candidates, double alone_us)
    : graph_(graph),
      candidates_(std::move(candidates)),
      alone_us_(alone_us),
      trials_(candidates_.size(), is_cheap_to_look(candidates_.front().runner->structure(), alone_us)) {}

// How many frames are to come, the forecast knows; not where the source sets the pace.
std::optional<Relay::Leg> StreamTrials::next() {
    turn_ = trials_.next();
    if (!turn_) return std::nullopt;
    pace_ = std::make_shared<internal::FramePace>();
    Relay::Leg leg{.runner = current().runner};
    busy_ = turn_->looks ? std::make_unique<BusyLog>(graph_) : nullptr;
    if (busy_) leg.observers = {busy_.get()};
    if (trials_.source_sets_pace()) {
        leg.is_over = [pace = pace_, seconds = turn_->seconds] {
            pace->asked();
            return pace->asked_so_far() > kTurnFrames && pace->seconds() >= seconds;
        };
        return leg;
    }
    const auto wanted =
        static_cast<std::uint64_t>(turn_->seconds * 1e6 / std::max(0.01, current().forecast_us));
    leg.frames = std::max(wanted, kTurnFrames);
    leg.is_over = [pace = pace_] { return pace->asked(), false; };
    return leg;
}

void StreamTrials::tell(const Relay::Done& done) {
    const std::uint64_t frames = done.report.frames;
    if (frames == 0) return;
    Trials::Came came{.period_us = pace_->period_us(frames, alone_us_)};
    if (busy_) {
        came.busiest_us = busy_->busiest_us() / static_cast<double>(frames);
        came.source_waits = busy_->sources_waited_us() > kWaitsAtPace * done.elapsed_s * 1e6;
    }
    trials_.tell(came);
}

std::optional<double> StreamTrials::compared_us(std::size_t candidate) const {
    const auto periods = trials_.periods(candidate);
    if (!periods) return std::nullopt;
    return source_sets_pace() ? periods->busiest_us : periods->undisturbed_us;
}

std::vector<Choice::Tried> StreamTrials::tried() const {
    std::vector<Choice::Tried> tried;
    const auto add = [&](std::size_t candidate) {
        if (const auto periods = trials_.periods(candidate))
            tried.push_back(
                {candidates_[candidate].way.name(), periods->undisturbed_us, periods->busiest_us});
    };
    add(trials_.best());
    for (std::size_t candidate = 0; candidate < candidates_.size(); ++candidate)
        if (candidate != trials_.best()) add(candidate);
    return tried;
}

}  // namespace tidemill
