#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "tidemill/base/thread_habits.hpp"
#include "tidemill/runtime/graph/frame.hpp"
#include "tidemill/runtime/threads/bell.hpp"
#include "tidemill/runtime/threads/real_threads.hpp"
#include "tidemill/runtime/threads/token_memory.hpp"
#include "tidemill/scheduling/static/schedule.hpp"

namespace tidemill {

/// Words of a token on one of its frames besides its data.
template <typename Threads>
struct BasicFrameMark {
    typename Threads::template Plain<std::uint64_t> holes{0};  ///< bits of the tasks that skipped this frame
    typename Threads::template Plain<std::uint64_t> born{0};   ///< tick at which its source frame began
};

/// Carries a batch of frames of a segment, usually one, from stage to stage.
///
/// `turn` gives the thread that may touch the rest: the one that waits for exactly this batch and stage. It
/// is the only word that two threads ever share, and each of its values has one writer and one reader.
template <typename Threads>
struct alignas(64) BasicToken {
    using Mark = BasicFrameMark<Threads>;

    typename Threads::template Atomic<std::uint32_t> turn{0};
    typename Threads::template Atomic<std::uint32_t> sleepers{0};
    typename Threads::template Plain<std::uint64_t> first_frame{
        0};                                                     ///< the number of the batch's first frame
    typename Threads::template Plain<std::uint32_t> frames{0};  ///< how many frames there are in the batch
    std::uint32_t data_stride = 0;                              ///< bytes from one frame's data to the next
    std::byte* first_data = nullptr;
    Mark first_mark;  // here, so that a token of one frame is one cache line
    Mark* later_marks = nullptr;
    typename Threads::template Atomic<std::uint32_t> claim{kBegun};  ///< see BasicTokenRing::replace_oldest()

    static constexpr std::uint32_t kWaits = 0;
    static constexpr std::uint32_t kBegun = 1;     ///< the second stage works on it, or has
    static constexpr std::uint32_t kReplaced = 2;  ///< the first stage puts another frame there

    std::byte* data(std::uint32_t frame) const { return first_data + std::size_t{data_stride} * frame; }
    Mark& mark(std::uint32_t frame) { return frame == 0 ? first_mark : later_marks[frame - 1]; }
};

/// A place in a ring: batch k always uses token k modulo the number of tokens.
struct TokenCursor {
    std::uint64_t batch;
    std::size_t index;
};

/// How many tokens a ring has, and what each of them holds.
struct TokenLayout {
    std::size_t tokens;
    std::uint32_t frames;                   ///< per token
    std::size_t frame_bytes;                ///< of data
    bool has_spare = false;                 ///< a token beside the ring, for frames that do not go round
    std::shared_ptr<TokenMemory> memory{};  ///< where they lie; null: in the program's own
};

/// The tokens of one segment, recycled for ever. Batches are numbered from 0 in each ring.
///
/// The token of batch k passes through stages 0, 1, ... of the segment and is then free for batch k + size().
/// Which of a stage's threads has batch k is a matter of arithmetic (Turns): order needs no lock, and a stage
/// hands over by one store. The number of tokens bounds how far stages can drift apart: it is the
/// back-pressure.
template <typename Threads>
class BasicTokenRing {
  public:
    using Token = BasicToken<Threads>;

    /// `sleepy` says whether any thread will ever wait other than actively.
    BasicTokenRing(const TokenLayout& layout, std::uint32_t stages, bool sleepy);

    /// Has this bell rung when a thread of a stage gets the turn of a token, or the segment is closed: for
    /// one that waits for other tokens, too. Before any thread works; not heard where nobody ever sleeps.
    void ring_for(std::uint32_t stage, const Turns& turns, std::size_t thread, Bell<Threads>& bell);

    std::size_t size() const { return tokens_.size(); }
    std::size_t bytes() const { return memory_.bytes(); }

    TokenCursor at(std::uint64_t batch) const { return {batch, batch % tokens_.size()}; }

    void advance(TokenCursor& cursor, std::size_t batches) const {
        cursor.batch += batches;
        cursor.index += batches;
        while (cursor.index >= tokens_.size()) cursor.index -= tokens_.size();
    }

    /// The token of the cursor's batch if its turn has come at `stage`; null otherwise.
    /// Does not look whether the segment has ended.
    Token* try_take(const TokenCursor& cursor, std::uint32_t stage) {
        Token& token = tokens_[cursor.index];
        // pairs with the store in pass()
        const std::uint32_t turn = token.turn.load(std::memory_order_acquire);
        return (turn & kTurnMask) == turn_of(cursor.batch, stage) ? &token : nullptr;
    }

    /// The same, but waits; null when the segment has ended before this batch.
    Token* take(const TokenCursor& cursor, std::uint32_t stage, WaitMode mode);

    /// Sleeps until its turn may have come, or `at_most_ns` are over; null when it has not.
    Token* nap(const TokenCursor& cursor, std::uint32_t stage, long at_most_ns);

    /// The token of a cursor that the caller has the turn of.
    Token& token(const TokenCursor& cursor) { return tokens_[cursor.index]; }

    /// A token near the cursor is going to be taken and passed on: what it says may come here meanwhile, for
    /// this thread to write, instead of being waited for token by token.
    void expect(const TokenCursor& cursor, std::size_t ahead) {
        std::size_t index = cursor.index + ahead;
        while (index >= tokens_.size()) index -= tokens_.size();
        __builtin_prefetch(&tokens_[index], /*to be written*/ 1);
    }

    /// Hands the token of `batch` over from `stage` to the next one, or to the batch that uses it next.
    void pass(Token& token, std::uint64_t batch, std::uint32_t stage) {
        const bool last = stage + 1 == stages_;
        const std::uint32_t turn = last ? turn_of(batch + tokens_.size(), 0) : turn_of(batch, stage + 1);
        if (!sleepy_) {
            token.turn.store(turn, std::memory_order_release);  // pairs with the load in try_take()
            return;
        }
        // Sequentially consistent: either we see the sleeper, or it sees the new turn before it sleeps.
        token.turn.store(turn, std::memory_order_seq_cst);
        if (token.sleepers.load(std::memory_order_seq_cst) != 0) Threads::wake_all(token.turn);
        if (has_bells_) ring_next(last ? batch + tokens_.size() : batch, last ? 0 : stage + 1);
    }

    /// Where the first stage's only thread makes a frame for which there is no token.
    Token& spare() { return spare_; }

    /// Lets the first stage replace a frame that it is about to pass on, until the second one claims it.
    void offer(Token& token) { token.claim.store(Token::kWaits, std::memory_order_relaxed); }

    /// For the second stage, of a token that it has taken: from now on it is not replaced. Waits while it is.
    void claim(Token& token) {
        std::uint32_t seen = Token::kWaits;
        // pairs with the store in replace_oldest()
        while (!token.claim.compare_exchange_strong(seen, Token::kBegun, std::memory_order_acquire)) {
            seen = Token::kWaits;
            Threads::yield_core();
        }
    }

    /// Drops the oldest frame that waits for the second stage: those behind it move up, and the spare one is
    /// the last of them. Returns its number; none where no frame waits. `next` is the first stage's next
    /// batch; tokens hold one frame.
    std::optional<std::uint64_t> replace_oldest(std::uint64_t next);

    /// Ends the segment before `batch` (or earlier, if ended before), and wakes all that wait for later ones.
    void close(std::uint64_t batch);

    /// The first batch that does not exist.
    std::uint64_t end() const { return end_.load(std::memory_order_seq_cst); }
    /// Whether `batch` lies beyond the segment's end.
    bool ended_before(std::uint64_t batch) const { return batch >= end(); }

    /// Tasks are not run for this frame and later ones, though their tokens go round.
    std::uint64_t limit() const { return limit_.load(std::memory_order_relaxed); }
    const typename Threads::template Atomic<std::uint64_t>* limit_word() const { return &limit_; }
    /// Lowers the limit; a thread that takes a token that was passed on after this sees it.
    void lower_limit(std::uint64_t frame);

  private:
    // The top bit is there to be flipped, so that a sleeper that nobody gives a turn can be roused.
    static constexpr std::uint32_t kNudge = 0x80000000u;
    static constexpr std::uint32_t kTurnMask = ~kNudge;

    std::uint32_t turn_of(std::uint64_t batch, std::uint32_t stage) const {
        return static_cast<std::uint32_t>(batch * stages_ + stage) & kTurnMask;
    }
    // State of a stage: whose turn it is, and the bells of those threads that have one.
    struct Bells {
        Turns turns{1};
        std::vector<Bell<Threads>*> of_threads{};
    };

    void ring_next(std::uint64_t batch, std::uint32_t stage);
    Token* spin(const TokenCursor& cursor, std::uint32_t stage, int rounds);
    bool lock(std::uint64_t batch);
    void swap_with_spare(Token& token);
    template <typename... AtMost>
    Token* sleep(const TokenCursor& cursor, std::uint32_t stage, AtMost... at_most_ns);

    std::vector<Token> tokens_;
    std::vector<typename Token::Mark> marks_;
    TokenBytes memory_;
    std::uint32_t stages_;
    bool sleepy_;
    bool has_bells_ = false;
    std::vector<Bells> bells_;  // [stage]
    alignas(64) typename Threads::template Atomic<std::uint64_t> end_{kEndless};
    typename Threads::template Atomic<std::uint64_t> limit_{kEndless};
    Token spare_;
};

using FrameMark = BasicFrameMark<RealThreads>;
using Token = BasicToken<RealThreads>;
using TokenRing = BasicTokenRing<RealThreads>;

extern template class BasicTokenRing<RealThreads>;

}  // namespace tidemill
