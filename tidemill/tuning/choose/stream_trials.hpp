#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "tidemill/runtime/execute/relay.hpp"
#include "tidemill/runtime/graph/graph.hpp"
#include "tidemill/tuning/choose/frame_pace.hpp"
#include "tidemill/tuning/choose/run_candidates.hpp"
#include "tidemill/tuning/choose/trials.hpp"
#include "tidemill/tuning/profile/busy_log.hpp"

namespace tidemill {

/// A way to run a graph that may be the best, and what runs it so.
struct Candidate : internal::RunCandidate {
    std::shared_ptr<StretchRunner> runner{};
};

/// Trials on a live stream: turns as legs of a relay.
class StreamTrials {
  public:
    /// Trials whose periods leave out the time of a turn's first frame.
    StreamTrials(const Graph& graph, std::vector<Candidate> candidates, double alone_us);

    /// The next turn, which is current() until tell(); nothing once it is decided.
    std::optional<Relay::Leg> next();
    const Candidate& current() const { return candidates_[turn_->candidate]; }
    /// Takes the result of a turn. One that was cut before its first frame says nothing, and is had again.
    void tell(const Relay::Done& done);

    const std::vector<Candidate>& candidates() const { return candidates_; }
    /// Value by which a candidate is compared: its period, or its busiest thread. Nothing before its first
    /// turn.
    std::optional<double> compared_us(std::size_t candidate) const;
    const Candidate& best() const { return candidates_[trials_.best()]; }
    bool source_sets_pace() const { return trials_.source_sets_pace(); }
    Trials::Periods periods_of_best() const { return *trials_.periods(trials_.best()); }
    /// The best one first.
    std::vector<Choice::Tried> tried() const;

  private:
    const Graph& graph_;
    std::vector<Candidate> candidates_;
    double alone_us_;
    Trials trials_;
    std::optional<Trials::Turn> turn_{};
    std::shared_ptr<internal::FramePace> pace_;
    std::unique_ptr<BusyLog> busy_;  // of a turn that looks
};

}  // namespace tidemill
