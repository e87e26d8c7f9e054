#pragma once

#include "tidemill/run/token_ring.hpp"

namespace tidemill {

namespace internal {

template <typename Bound>
void lower(Bound& bound, std::uint64_t value) {
    std::uint64_t seen = bound.load(std::memory_order_relaxed);
    while (value < seen && !bound.compare_exchange_weak(seen, value, std::memory_order_seq_cst)) {
    }
}

}  // namespace internal

template <typename Threads>
BasicTokenRing<Threads>::BasicTokenRing(const TokenLayout& layout, std::uint32_t stages, bool sleepy)
    : tokens_(layout.tokens),
      marks_(layout.tokens * (layout.frames - 1)),
      memory_(layout.tokens * layout.frames * aligned(layout.frame_bytes)),
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

template <typename Threads>
void BasicTokenRing<Threads>::close(std::uint64_t batch) {
    internal::lower(end_, batch);
    for (Token& token : tokens_) {
        token.turn.fetch_xor(kNudge, std::memory_order_seq_cst);
        Threads::wake_all(token.turn);
    }
}

template <typename Threads>
void BasicTokenRing<Threads>::lower_limit(std::uint64_t frame) {
    internal::lower(limit_, frame);
}

}  // namespace tidemill
