#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "tidemill/graph/plan.hpp"
#include "tidemill/run/run_error.hpp"
#include "tidemill/run/token_ring.hpp"

namespace tidemill {

/// What the threads of one run share: the rings of all segments, and why the run is to end.
class RunState {
  public:
    /// `tokens[s]` is the size of segment s's ring.
    RunState(const Plan& plan, const std::vector<std::size_t>& tokens, bool sleepy);

    TokenRing& ring(std::uint32_t segment) { return rings_[segment]; }
    std::uint32_t segments() const { return static_cast<std::uint32_t>(rings_.size()); }

    /// Asks the source to end the stream soon; frames in flight are finished.
    void halt() { halting_.store(true, std::memory_order_relaxed); }
    bool halting() const { return halting_.load(std::memory_order_relaxed); }
    const std::atomic<bool>* halting_flag() const { return &halting_; }

    /// Ends the stream before `frame` of `segment`: a task said stop.
    void stop_before(std::uint32_t segment, std::uint64_t frame);

    /// The same because a task threw.
    void fail(std::uint32_t segment, RunError error);

    /// Throws the error of the smallest failing frame, if any failed. Called when all threads are done.
    void rethrow() const;

  private:
    struct Failure {
        std::uint32_t segment;
        RunError error;
    };

    std::deque<TokenRing> rings_;
    alignas(64) std::atomic<bool> halting_{false};
    std::mutex mutex_;
    std::optional<Failure> failure_;
};

}  // namespace tidemill
