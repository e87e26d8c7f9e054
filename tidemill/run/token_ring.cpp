#include "tidemill/run/token_ring.hpp"

namespace tidemill {

namespace {

void lower(std::atomic<std::uint64_t>& bound, std::uint64_t value) {
    std::uint64_t seen = bound.load(std::memory_order_relaxed);
    while (value < seen && !bound.compare_exchange_weak(seen, value, std::memory_order_seq_cst)) {
    }
}

}  // namespace

TokenRing::TokenRing(std::size_t tokens, std::uint32_t stages, std::size_t token_bytes,
                     std::uint64_t first_frame, bool sleepy)
    : tokens_(tokens),
      memory_(tokens * aligned(token_bytes)),
      stages_(stages),
      first_frame_(first_frame),
      sleepy_(sleepy) {
    for (std::uint64_t frame = first_frame; frame < first_frame + tokens; ++frame) {
        const std::size_t index = at(frame).index;
        tokens_[index].turn.store(turn_of(frame, 0), std::memory_order_relaxed);
        tokens_[index].data = memory_.data() + index * aligned(token_bytes);
    }
}

Token* TokenRing::take(const TokenCursor& cursor, std::uint32_t stage, WaitMode mode) {
    constexpr int kBoundedSpin = 2000;  // some 30 to 70 us: more than a pair of futex calls costs
    constexpr int kSpinBeforeYield = 200;
    Token* token = try_take(cursor, stage);
    if (!token && mode == WaitMode::mixed) token = spin(cursor, stage, kBoundedSpin);
    while (!token) {
        if (ended_before(cursor.frame)) return nullptr;
        if (mode != WaitMode::active) {
            token = sleep(cursor, stage);
        } else if (!(token = spin(cursor, stage, kSpinBeforeYield))) {
            detail::yield_core();
        }
    }
    return token;
}

Token* TokenRing::spin(const TokenCursor& cursor, std::uint32_t stage, int rounds) {
    for (int i = 0; i < rounds; ++i) {
        if (Token* token = try_take(cursor, stage)) return token;
        detail::relax();
    }
    return nullptr;
}

Token* TokenRing::sleep(const TokenCursor& cursor, std::uint32_t stage) {
    Token& token = tokens_[cursor.index];
    token.sleepers.fetch_add(1, std::memory_order_seq_cst);  // pairs with the load in pass()
    const std::uint32_t seen = token.turn.load(std::memory_order_seq_cst);
    const bool mine = (seen & kTurnMask) == turn_of(cursor.frame, stage);
    if (!mine && !ended_before(cursor.frame)) detail::sleep_while(token.turn, seen);
    token.sleepers.fetch_sub(1, std::memory_order_relaxed);
    return try_take(cursor, stage);
}

void TokenRing::close(std::uint64_t frame) {
    lower(end_, frame);
    for (Token& token : tokens_) {
        token.turn.fetch_xor(kNudge, std::memory_order_seq_cst);
        detail::wake_all(token.turn);
    }
}

void TokenRing::lower_limit(std::uint64_t frame) {
    lower(limit_, frame);
}

}  // namespace tidemill
