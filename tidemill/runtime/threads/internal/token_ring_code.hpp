#pragma once

#include <algorithm>
#include <utility>

#include "tidemill/runtime/threads/token_ring.hpp"

namespace tidemill {

namespace internal {

/// Whether `value` is the bound now, and was not before.
template <typename Bound>
bool lower(Bound& bound, std::uint64_t value) {
    std::uint64_t seen = bound.load(std::memory_order_relaxed);
    while (value < seen) {
        if (bound.compare_exchange_weak(seen, value, std::memory_order_seq_cst)) return true;
    }
    return false;
}

}  // namespace internal

template <typename Threads>
BasicTokenRing<Threads>::BasicTokenRing(const TokenLayout& layout, std::uint32_t stages, bool sleepy)
    : tokens_(layout.tokens),
      marks_(layout.tokens * (layout.frames - 1)),
      memory_(layout.tokens * layout.frames + layout.has_spare, layout.frame_bytes, layout.memory),
      stages_(stages),
      sleepy_(sleepy) {
    const std::size_t stride = aligned(layout.frame_bytes);
    for (std::size_t index = 0; index < tokens_.size(); ++index) {
        Token& token = tokens_[index];
        token.turn.store(turn_of(index, 0), std::memory_order_relaxed);
        token.data_stride = static_cast<std::uint32_t>(stride);
        token.first_data = memory_.data() + index * layout.frames * stride;
        token.later_marks = marks_.data() + index * (layout.frames - 1);
    }
    if (layout.has_spare) spare_.first_data = memory_.data() + tokens_.size() * layout.frames * stride;
}

template <typename Threads>
void BasicTokenRing<Threads>::ring_for(std::uint32_t stage, const Turns& turns, std::size_t thread,
                                       Bell<Threads>& bell) {
    has_bells_ = true;
    bells_.resize(stages_);
    bells_[stage].turns = turns;
    bells_[stage].of_threads.resize(turns.threads());
    bells_[stage].of_threads[thread] = &bell;
}

template <typename Threads>
void BasicTokenRing<Threads>::ring_next(std::uint64_t batch, std::uint32_t stage) {
    const Bells& bells = bells_[stage];
    if (bells.of_threads.empty()) return;
    if (Bell<Threads>* bell = bells.of_threads[bells.turns.thread_of(batch)]) bell->ring();
}

template <typename Threads>
auto BasicTokenRing<Threads>::take(const TokenCursor& cursor, std::uint32_t stage, WaitMode mode) -> Token* {
    Token* token = try_take(cursor, stage);
    if (!token && mode != WaitMode::active) {
        token = spin(cursor, stage, mode == WaitMode::mixed ? Threads::kLongSpin : Threads::kShortSpin);
    }
    while (!token) {
        if (ended_before(cursor.batch)) return nullptr;
        if (mode != WaitMode::active) {
            token = sleep(cursor, stage);
        } else if (!(token = spin(cursor, stage, Threads::kSpinBeforeYield))) {
            Threads::yield_core();
        }
    }
    return token;
}

template <typename Threads>
auto BasicTokenRing<Threads>::spin(const TokenCursor& cursor, std::uint32_t stage, int rounds) -> Token* {
    for (int i = 0; i < rounds; ++i) {
        if (Token* token = try_take(cursor, stage)) return token;
        Threads::relax();
    }
    return nullptr;
}

template <typename Threads>
auto BasicTokenRing<Threads>::nap(const TokenCursor& cursor, std::uint32_t stage, long at_most_ns) -> Token* {
    if (sleepy_) return sleep(cursor, stage, at_most_ns);
    Threads::yield_core();
    return try_take(cursor, stage);
}

template <typename Threads>
template <typename... AtMost>
auto BasicTokenRing<Threads>::sleep(const TokenCursor& cursor, std::uint32_t stage, AtMost... at_most_ns)
    -> Token* {
    Token& token = tokens_[cursor.index];
    token.sleepers.fetch_add(1, std::memory_order_seq_cst);  // pairs with the load in pass()
    const std::uint32_t seen = token.turn.load(std::memory_order_seq_cst);
    const bool mine = (seen & kTurnMask) == turn_of(cursor.batch, stage);
    if (!mine && !ended_before(cursor.batch)) Threads::sleep_while(token.turn, seen, at_most_ns...);
    token.sleepers.fetch_sub(1, std::memory_order_relaxed);
    return try_take(cursor, stage);
}

// From the newest one on to the first that has begun: whatever waits behind a frame that is locked is, too.
template <typename Threads>
std::optional<std::uint64_t> BasicTokenRing<Threads>::replace_oldest(std::uint64_t next) {
    const std::uint64_t first = next - std::min<std::uint64_t>(next, tokens_.size());
    std::uint64_t oldest = next;
    while (oldest > first && lock(oldest - 1)) --oldest;
    if (oldest == next) return {};
    for (std::uint64_t batch = next; batch-- > oldest;) swap_with_spare(token(at(batch)));
    for (std::uint64_t batch = next; batch-- > oldest;)
        token(at(batch)).claim.store(Token::kWaits, std::memory_order_release);  // pairs with claim()
    return spare_.first_frame;
}

template <typename Threads>
bool BasicTokenRing<Threads>::lock(std::uint64_t batch) {
    std::uint32_t seen = Token::kWaits;
    return token(at(batch)).claim.compare_exchange_strong(seen, Token::kReplaced, std::memory_order_relaxed);
}

template <typename Threads>
void BasicTokenRing<Threads>::swap_with_spare(Token& token) {
    const auto swap = [](auto& a, auto& b) {
        const std::uint64_t held = a;
        a = static_cast<std::uint64_t>(b);
        b = held;
    };
    std::swap(token.first_data, spare_.first_data);
    swap(token.first_frame, spare_.first_frame);
    swap(token.first_mark.holes, spare_.first_mark.holes);
    swap(token.first_mark.born, spare_.first_mark.born);
}

template <typename Threads>
void BasicTokenRing<Threads>::close(std::uint64_t batch) {
    // A second flip would hide the first from a thread that is about to sleep.
    if (!internal::lower(end_, batch)) return;
    for (Token& token : tokens_) {
        token.turn.fetch_xor(kNudge, std::memory_order_seq_cst);
        Threads::wake_all(token.turn);
    }
    for (const Bells& bells : bells_)
        for (Bell<Threads>* bell : bells.of_threads)
            if (bell) bell->ring();
}

template <typename Threads>
void BasicTokenRing<Threads>::lower_limit(std::uint64_t frame) {
    internal::lower(limit_, frame);
}

}  // namespace tidemill
