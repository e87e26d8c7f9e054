#include "tidemill/run/token_ring.hpp"

namespace tidemill {

namespace {

void lower(std::atomic<std::uint64_t>& bound, std::uint64_t value) {
    std::uint64_t seen = bound.load(std::memory_order_relaxed);
    while (value < seen && !bound.compare_exchange_weak(seen, value, std::memory_order_seq_cst)) {
    }
}

}  // namespace

TokenRing::TokenRing(const TokenLayout& layout, std::uint32_t stages, bool sleepy)
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

Token* TokenRing::take(const TokenCursor& cursor, std::uint32_t stage, WaitMode mode) {
    constexpr int kShortSpin = 50;      // some 1 to 3 us: less than falling asleep and being woken takes
    constexpr int kBoundedSpin = 2000;  // some 30 to 70 us
    constexpr int kSpinBeforeYield = 200;
    Token* token = try_take(cursor, stage);
    if (!token && mode != WaitMode::active) {
        token = spin(cursor, stage, mode == WaitMode::mixed ? kBoundedSpin : kShortSpin);
    }
    while (!token) {
        if (ended_before(cursor.batch)) return nullptr;
        if (mode != WaitMode::active) {
            token = sleep(cursor, stage);
        } else if (!(token = spin(cursor, stage, kSpinBeforeYield))) {
            internal::yield_core();
        }
    }
    return token;
}

Token* TokenRing::spin(const TokenCursor& cursor, std::uint32_t stage, int rounds) {
    for (int i = 0; i < rounds; ++i) {
        if (Token* token = try_take(cursor, stage)) return token;
        internal::relax();
    }
    return nullptr;
}

Token* TokenRing::sleep(const TokenCursor& cursor, std::uint32_t stage) {
    Token& token = tokens_[cursor.index];
    token.sleepers.fetch_add(1, std::memory_order_seq_cst);  // pairs with the load in pass()
    const std::uint32_t seen = token.turn.load(std::memory_order_seq_cst);
    const bool mine = (seen & kTurnMask) == turn_of(cursor.batch, stage);
    if (!mine && !ended_before(cursor.batch)) internal::sleep_while(token.turn, seen);
    token.sleepers.fetch_sub(1, std::memory_order_relaxed);
    return try_take(cursor, stage);
}

void TokenRing::close(std::uint64_t batch) {
    lower(end_, batch);
    for (Token& token : tokens_) {
        token.turn.fetch_xor(kNudge, std::memory_order_seq_cst);
        internal::wake_all(token.turn);
    }
}

void TokenRing::lower_limit(std::uint64_t frame) {
    lower(limit_, frame);
}

}  // namespace tidemill
