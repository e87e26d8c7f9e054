#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "tidemill/graph/arena.hpp"
#include "tidemill/run/waiting.hpp"

namespace tidemill {

/// Carries one frame of a segment from stage to stage.
///
/// `turn` says who may touch the rest: the thread that waits for exactly this frame and stage. It is the
/// only word that two threads ever share, and each of its values has one writer and one reader.
struct alignas(64) Token {
    std::atomic<std::uint32_t> turn{0};
    std::atomic<std::uint32_t> sleepers{0};
    std::uint64_t holes = 0;  ///< bits of the tasks that skipped this frame
    std::uint64_t born = 0;   ///< tick at which its source frame began
    std::byte* data = nullptr;
};

/// A place in a ring: frame k always uses token k modulo the number of tokens.
struct TokenCursor {
    std::uint64_t frame;
    std::size_t index;
};

/// The tokens of one segment, recycled for ever.
///
/// Frame k passes through stages 0, 1, ... of the segment and is then free for frame k + size(). With n
/// threads in a stage, frame k belongs to thread k mod n: order needs no lock, and a stage hands over by
/// one store. The number of tokens bounds how far stages can drift apart: it is the back-pressure.
class TokenRing {
  public:
    static constexpr std::uint64_t kEndless = std::numeric_limits<std::uint64_t>::max();

    /// `first_frame` is the number of the first frame; `sleepy` says whether any thread will ever wait other
    /// than actively.
    TokenRing(std::size_t tokens, std::uint32_t stages, std::size_t token_bytes, std::uint64_t first_frame,
              bool sleepy);

    std::size_t size() const { return tokens_.size(); }
    std::size_t bytes() const { return memory_.bytes(); }

    TokenCursor at(std::uint64_t frame) const { return {frame, frame % tokens_.size()}; }

    void advance(TokenCursor& cursor, std::size_t frames) const {
        cursor.frame += frames;
        cursor.index += frames;
        while (cursor.index >= tokens_.size()) cursor.index -= tokens_.size();
    }

    /// The token of the cursor's frame if its turn has come at `stage`; null otherwise.
    /// Does not look whether the segment has ended.
    Token* try_take(const TokenCursor& cursor, std::uint32_t stage) {
        Token& token = tokens_[cursor.index];
        // pairs with the store in pass()
        const std::uint32_t turn = token.turn.load(std::memory_order_acquire);
        return (turn & kTurnMask) == turn_of(cursor.frame, stage) ? &token : nullptr;
    }

    /// The same, but waits; null when the segment has ended before this frame.
    Token* take(const TokenCursor& cursor, std::uint32_t stage, WaitMode mode);

    /// Hands the token of `frame` over from `stage` to the next one, or to the frame that uses it next.
    void pass(Token& token, std::uint64_t frame, std::uint32_t stage) {
        const bool last = stage + 1 == stages_;
        const std::uint32_t turn = last ? turn_of(frame + tokens_.size(), 0) : turn_of(frame, stage + 1);
        if (!sleepy_) {
            token.turn.store(turn, std::memory_order_release);  // pairs with the load in try_take()
            return;
        }
        // Sequentially consistent: either we see the sleeper, or it sees the new turn before it sleeps.
        token.turn.store(turn, std::memory_order_seq_cst);
        if (token.sleepers.load(std::memory_order_seq_cst) != 0) detail::wake_all(token.turn);
    }

    /// Ends the segment before `frame` (or earlier, if told before), and wakes all that wait for later ones.
    void close(std::uint64_t frame);

    /// The first frame that does not exist.
    std::uint64_t end() const { return end_.load(std::memory_order_seq_cst); }
    /// The first frame of all.
    std::uint64_t first_frame() const { return first_frame_; }
    /// Whether `frame` lies beyond the segment's end.
    bool ended_before(std::uint64_t frame) const { return frame >= end_.load(std::memory_order_seq_cst); }

    /// Tasks are not run for this frame and later ones, though their tokens go round.
    std::uint64_t limit() const { return limit_.load(std::memory_order_relaxed); }
    /// Lowers the limit; whoever takes a token that was passed on after this sees it.
    void lower_limit(std::uint64_t frame);

  private:
    // The top bit is there to be flipped, so that a sleeper that nobody gives a turn can be roused.
    static constexpr std::uint32_t kNudge = 0x80000000u;
    static constexpr std::uint32_t kTurnMask = ~kNudge;

    std::uint32_t turn_of(std::uint64_t frame, std::uint32_t stage) const {
        return static_cast<std::uint32_t>(frame * stages_ + stage) & kTurnMask;
    }
    Token* spin(const TokenCursor& cursor, std::uint32_t stage, int rounds);
    Token* sleep(const TokenCursor& cursor, std::uint32_t stage);

    std::vector<Token> tokens_;
    Arena memory_;
    std::uint32_t stages_;
    std::uint64_t first_frame_;
    bool sleepy_;
    alignas(64) std::atomic<std::uint64_t> end_{kEndless};
    std::atomic<std::uint64_t> limit_{kEndless};
};

}  // namespace tidemill
