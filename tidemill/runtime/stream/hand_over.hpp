#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "tidemill/runtime/stream/inlet.hpp"
#include "tidemill/runtime/threads/token_ring.hpp"

namespace tidemill::internal {

/// Frames on their way between a stream and the program around it: a ring of tokens with two stages, one for
/// each side, as it lies between two stages of a pipeline.
///
/// Each side is one thread at a time. A waiter asks now and then whether there is still something to wait
/// for.
class HandOver {
  public:
    /// Whether to wait on.
    using GoesOn = std::function<bool()>;

    HandOver(std::size_t frame_bytes, const HandOverOptions& options);

    /// The giver's next frame; null where there is no room and `goes_on` says no.
    template <class Ask>
    Token* to_fill(const Ask& goes_on) {
        Token* const token = ring_.try_take(giver_, kGiver);
        return token ? token : wait(giver_, kGiver, goes_on);
    }
    void filled(Token& token) { pass(token, giver_, kGiver); }
    /// Behind what is filled comes nothing.
    void close() { ring_.close(giver_.batch); }

    /// The taker's next frame; null where there is none and `goes_on` says no, or where none will come.
    template <class Ask>
    Token* to_empty(const Ask& goes_on) {
        Token* const token = ring_.try_take(taker_, kTaker);
        return token ? token : wait(taker_, kTaker, goes_on);
    }
    void emptied(Token& token) { pass(token, taker_, kTaker); }

    /// A run begins on this thread, which may be stopped so.
    void begin_run(const std::stop_token& stop);
    /// It is over; another may begin.
    void end_run();
    /// The same where it is no run of a graph.
    void mark_finished(bool over) {
        if (over) over_since_ = Steady::now();
        over_.store(over, std::memory_order_release);  // pairs with the load in is_over()
    }
    /// Whether it was asked to stop, or the last one was.
    bool is_stopped() const { return stopped_.load(std::memory_order_relaxed); }
    /// Throws RunError, saying that `call` waits, where the run would wait for itself, or runs in another
    /// process.
    void check_may_wait(const std::string& call) const;
    bool is_over() const { return over_.load(std::memory_order_acquire); }
    /// Whether it has been over for so long that nobody seems to begin another.
    bool is_over_for_good() const { return is_over() && Steady::now() - over_since_.load() > kBetweenRuns; }

  private:
    using Steady = std::chrono::steady_clock;
    static constexpr std::chrono::seconds kBetweenRuns{1};
    static constexpr std::uint32_t kGiver = 0;
    static constexpr std::uint32_t kTaker = 1;

    Token* wait(const TokenCursor& cursor, std::uint32_t stage, const GoesOn& goes_on);
    Token* look(const TokenCursor& cursor, std::uint32_t stage);
    void pass(Token& token, TokenCursor& cursor, std::uint32_t stage) {
        ring_.pass(token, cursor.batch, stage);
        ring_.advance(cursor, 1);
    }

    TokenRing ring_;
    int spins_;
    alignas(64) TokenCursor giver_;
    alignas(64) TokenCursor taker_;
    alignas(64) std::atomic<bool> over_{false};
    std::atomic<Steady::time_point> over_since_{};
    std::atomic<bool> stopped_{false};
    std::atomic<const void*> run_{nullptr};  // see InsideRun
    std::atomic<std::uint32_t> forks_{0};    // before it began
    std::optional<std::stop_callback<std::function<void()>>> asked_{};
};

/// A frame that found no room.
struct SpilledFrame {
    std::uint64_t number;
    std::vector<std::byte> bytes;
};

/// Where a run that is to stop puts frames for which the program makes no room. While it holds some, later
/// ones go there, too, so their order stays.
class Spill {
  public:
    bool holds_some() const { return holds_some_.load(std::memory_order_acquire); }
    void put(std::uint64_t number, std::span<const std::byte> bytes);
    /// The oldest; false where there is none.
    bool take(SpilledFrame& into);

  private:
    std::atomic<bool> holds_some_{false};
    std::mutex mutex_;
    std::deque<SpilledFrame> frames_;
};

}  // namespace tidemill::internal
