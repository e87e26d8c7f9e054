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
#include "tidemill/run/frame_error.hpp"
#include "tidemill/run/token_ring.hpp"

namespace tidemill {

/// What the threads of one run share: the rings of all segments, and why the run is to end.
class RunState {
  public:
    /// `tokens[s]` is the size of segment s's ring; each token holds `batch` frames.
    RunState(const Plan& plan, const std::vector<std::size_t>& tokens, std::uint32_t batch, bool sleepy);

    TokenRing& ring(std::uint32_t segment) { return rings_[segment]; }
    std::uint32_t segments() const { return static_cast<std::uint32_t>(rings_.size()); }

    /// Asks the source to end the stream soon; frames in flight are finished.
    void halt() { halting_.store(true, std::memory_order_relaxed); }
    bool halting() const { return halting_.load(std::memory_order_relaxed); }
    const std::atomic<bool>* halting_flag() const { return &halting_; }

    /// The same, and the stream is over.
    void end() {
        ended_.store(true, std::memory_order_relaxed);
        halt();
    }
    /// Whether the stream is over, rather than only this run of it.
    bool ended() const { return ended_.load(std::memory_order_relaxed); }

    /// Whether the stream goes on to source batch `batch`, which is about to begin. Asked where several
    /// threads begin batches, for nothing else says how far the others are.
    bool may_begin(std::uint64_t batch);

    /// Lets no batch begin behind those that have; returns the first that has not. Once per run.
    std::uint64_t shut_source();

    /// Ends the stream before `frame` of `segment`: a task said stop.
    void stop_before(std::uint32_t segment, std::uint64_t frame);

    /// The same because a task threw.
    void fail(std::uint32_t segment, std::uint64_t frame, FrameError error);

    /// Throws the error that the sequence would have met, if any. Called when all threads are done.
    void rethrow() const;

  private:
    struct Outcome {
        std::uint32_t segment;
        std::uint64_t frame;
        std::optional<FrameError> error;  // none: a task said stop
    };

    void end_before(Outcome outcome);

    static constexpr std::uint64_t kShut = std::uint64_t{1} << 63;

    std::deque<TokenRing> rings_;
    alignas(64) std::atomic<bool> halting_{false};
    std::atomic<bool> ended_{false};

    alignas(64) std::atomic<std::uint64_t> begun_{0};  // one past the last source batch begun, and kShut
    std::mutex mutex_;
    std::optional<Outcome> outcome_;
};

}  // namespace tidemill
