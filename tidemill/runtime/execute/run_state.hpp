#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "tidemill/runtime/execute/frame_failure.hpp"
#include "tidemill/runtime/threads/token_ring.hpp"

namespace tidemill {

/// The ring of one segment.
struct RingShape {
    TokenLayout layout;
    std::uint32_t stages;
};

/// State that the threads of one run share: the rings of all segments, and why the run is to end. `Error` is
/// the report of a task that threw.
template <typename Threads, typename Error>
class BasicRunState {
  public:
    using Ring = BasicTokenRing<Threads>;

    /// Where the stream ended before its source did.
    struct Outcome {
        std::uint32_t segment;
        std::uint64_t frame;
        std::optional<Error> error;  ///< none: a task said stop

        bool operator==(const Outcome&) const = default;
    };

    /// `sleepy` says whether any thread will ever wait other than actively.
    BasicRunState(const std::vector<RingShape>& rings, bool sleepy);

    Ring& ring(std::uint32_t segment) { return rings_[segment]; }
    std::uint32_t segments() const { return static_cast<std::uint32_t>(rings_.size()); }

    /// Asks the source to end the stream soon; frames in flight are finished.
    void halt() { halting_.store(true, std::memory_order_relaxed); }
    bool halting() const { return halting_.load(std::memory_order_relaxed); }
    const typename Threads::template Atomic<bool>* halting_flag() const { return &halting_; }

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

    /// Ends the stream before `frame` of `segment`: a task threw `error`, or said stop where there is none.
    void end_before(std::uint32_t segment, std::uint64_t frame, std::optional<Error> error);

    /// As the sequence would have met it. Asked when all threads are done, like what follows.
    std::optional<Outcome> outcome() const { return outcome_; }
    void rethrow() const;

  private:
    void note(Outcome outcome);

    static constexpr std::uint64_t kShut = std::uint64_t{1} << 63;

    std::deque<Ring> rings_;
    alignas(64) typename Threads::template Atomic<bool> halting_{false};
    typename Threads::template Atomic<bool> ended_{false};

    // one past the last source batch begun, and kShut
    alignas(64) typename Threads::template Atomic<std::uint64_t> begun_{0};
    typename Threads::Mutex mutex_;
    typename Threads::template Plain<std::optional<Outcome>> outcome_{std::nullopt};
};

using RunState = BasicRunState<RealThreads, FrameFailure>;

extern template class BasicRunState<RealThreads, FrameFailure>;

}  // namespace tidemill
