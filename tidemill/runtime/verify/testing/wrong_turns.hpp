#pragma once

#include <optional>

#include "tidemill/runtime/verify/testing/pipeline_runs.hpp"

/// Mistakes that shipped code might make, made between it and its machine: each must be caught.
namespace tidemill::explore::wrong {

inline constexpr Word kTurnMask = 0x7fffffff;

inline bool looks_for_sleepers(const WordNames& words, const Operation& operation) {
    return operation.act == Act::load && words.is_sleepers(operation.at);
}
inline bool hands_over(const WordNames& words, const Operation& operation) {
    return operation.act == Act::store && words.is_turn(operation.at);
}
inline bool tells(const Operation& operation, Told told) {
    return operation.act == Act::note && std::bit_cast<Remark>(operation.value).told == told;
}
inline bool lowers_end(const WordNames& words, const Operation& operation) {
    return operation.act == Act::exchange && words.is_end(operation.at);
}

/// Operations of which `left_out` says so have no effect, and are said to have succeeded.
template <typename LeftOut>
Mutation without(LeftOut left_out) {
    return [left_out](std::size_t) {
        return [left_out](const Operation& operation, const Perform& perform) mutable {
            return left_out(operation) ? operation.expected : perform(operation);
        };
    };
}

/// Operations are what `changed` makes of them.
template <typename Changed>
Mutation with(Changed changed) {
    return [changed](std::size_t) {
        return [changed](Operation operation, const Perform& perform) mutable {
            changed(operation);
            return perform(operation);
        };
    };
}

/// pass() looks for sleepers, then stores the turn.
inline Mutation sleepers_looked_for_first(WordNames words) {
    return [words](std::size_t) {
        return [words, held = std::optional<Operation>()](const Operation& operation,
                                                          const Perform& perform) mutable -> Word {
            if (hands_over(words, operation)) {
                held = operation;
                return 0;
            }
            const Word answer = perform(operation);
            if (held && looks_for_sleepers(words, operation)) perform(*std::exchange(held, std::nullopt));
            return answer;
        };
    };
}

/// sleep() does not have the kernel look at the word once more.
inline Mutation sleep_without_compare() {
    return with([](Operation& operation) { operation.expected |= operation.act == Act::sleep; });
}

/// Nobody is woken after a word was changed by `change`: pass() stores it, close() flips a bit.
inline Mutation no_wake_after(Act change) {
    return without([change, last = Act::note](const Operation& operation) mutable {
        if (operation.act == Act::store || operation.act == Act::flip) last = operation.act;
        return operation.act == Act::wake && last == change;
    });
}

/// close() wakes, but leaves the word as it was.
inline Mutation no_nudge() {
    return without([](const Operation& operation) { return operation.act == Act::flip; });
}

/// close() rouses, then lowers the end.
inline Mutation nudge_before_end(WordNames words) {
    return [words](std::size_t) {
        return [words, held = std::optional<Operation>()](const Operation& operation,
                                                          const Perform& perform) mutable -> Word {
            if (lowers_end(words, operation)) {
                held = operation;
                return operation.expected;
            }
            const bool rouses = operation.act == Act::flip || operation.act == Act::wake;
            if (held && !rouses) {
                // It is answered, so it is done before the run can be cut short.
                const Operation late = *held;
                held.reset();
                perform({Act::store, late.at, late.value, 0, late.order});
            }
            return perform(operation);
        };
    };
}

/// The second stage begins a frame that the first one is replacing.
inline Mutation replaced_frame_not_claimed(WordNames words) {
    return without([words](const Operation& operation) {
        return operation.act == Act::exchange && words.is_claim(operation.at) && operation.value == 1;
    });
}

/// The first stage replaces a frame that the second one has begun.
inline Mutation claimed_frame_replaced(WordNames words) {
    return without([words](const Operation& operation) {
        return operation.act == Act::exchange && words.is_claim(operation.at) && operation.value == 2;
    });
}

/// The threads of the first stage do not report which frames they begin.
inline Mutation frames_not_claimed() {
    return without([](const Operation& operation) {
        return operation.at == WordNames::kBegun &&
               (operation.act == Act::load || operation.act == Act::exchange);
    });
}

/// Nor are they asked: the leader ends the stream at its own next frame, or `further` on.
inline Mutation end_is_next_frame(std::uint64_t threads, std::uint64_t further = 0) {
    return [=](std::size_t) {
        return [=, next = Word{0}](const Operation& operation, const Perform& perform) mutable -> Word {
            const bool asks = operation.at == WordNames::kBegun;
            if (asks && operation.act == Act::exchange) next = operation.value - 1 + threads;
            if (asks && operation.act == Act::set) return next + further;
            return asks ? operation.expected : perform(operation);
        };
    };
}

/// A free token is taken for a frame beyond the end. One thread per stage.
inline Mutation end_not_checked_after_take(WordNames words, std::uint32_t stages) {
    return [=](std::size_t stage) {
        return [=, has_turn = false](const Operation& operation, const Perform& perform) mutable -> Word {
            if (operation.act == Act::load && words.is_end(operation.at) && has_turn) {
                return kEndless;
            }
            const Word answer = perform(operation);
            has_turn = operation.act == Act::load && words.is_turn(operation.at) &&
                       (answer & kTurnMask) % stages == stage;
            return answer;
        };
    };
}

/// The last stage hands the token to frame k + 1, not k + P.
inline Mutation next_frame_gets_token(WordNames words, std::uint32_t stages, std::uint32_t tokens) {
    return with([=](Operation& operation) {
        const bool last = hands_over(words, operation) && operation.value % stages == 0;
        if (last) operation.value -= (tokens - 1) * stages;
    });
}

/// The turn is given away before the token is used.
inline Mutation pass_before_work(WordNames words, std::uint32_t stages, std::uint32_t tokens) {
    return [=](std::size_t) {
        return [=, turn = Operation{.act = Act::store}, gone = false](
                   const Operation& operation, const Perform& perform) mutable -> Word {
            if (hands_over(words, operation) && std::exchange(gone, false)) return 0;
            const Word answer = perform(operation);
            if (operation.act == Act::load && words.is_turn(operation.at)) {
                const Word now = answer & kTurnMask;
                turn.at = operation.at;
                turn.value = now + 1 + (now % stages + 1 == stages ? (tokens - 1) * stages : 0);
            }
            if (!tells(operation, Told::works)) return answer;
            gone = true;
            perform(turn);
            perform({Act::load, turn.at});  // before the thread goes on, others may
            return answer;
        };
    };
}

/// A failure ends the source, but frames behind it are still worked on.
inline Mutation limit_not_lowered(WordNames words) {
    return without([words](const Operation& operation) {
        return operation.act == Act::exchange && words.is_limit(operation.at);
    });
}

/// A stop does not count against a failure at a later frame.
inline Mutation later_stop_forgotten() {
    return without([](const Operation& operation) {
        if (operation.act != Act::write || operation.at != WordNames::kOutcome) return false;
        return !Numbering<std::optional<Outcome>>::value(operation.value)->error.has_value();
    });
}

/// The first of several failures in time is reported.
inline Mutation first_failure_told() {
    return [](std::size_t) {
        return [told = false](const Operation& operation, const Perform& perform) mutable -> Word {
            if (operation.at != WordNames::kOutcome) return perform(operation);
            if (operation.act == Act::write && told) return 0;
            const Word answer = perform(operation);
            if (operation.act == Act::read)
                told = Numbering<std::optional<Outcome>>::value(answer).has_value();
            return answer;
        };
    };
}

/// A stage that ends a segment leaves without ending the next one.
inline Mutation next_segment_not_closed(WordNames words) {
    return without([words, flips = false](const Operation& operation) mutable {
        if (operation.act == Act::store || operation.act == Act::flip) flips = operation.act == Act::flip;
        const bool closes = operation.act == Act::flip || lowers_end(words, operation) ||
                            (operation.act == Act::wake && flips);
        return closes && words.segment_of(operation.at) == 1;
    });
}

/// pass() rings the bell of a thread with several stages, then stores the turn.
inline Mutation bell_before_turn(WordNames words, std::size_t bells) {
    constexpr Word kRung = 1, kAsleep = 2;
    return [=](std::size_t) {
        return [=](const Operation& operation, const Perform& perform) mutable -> Word {
            if (operation.act == Act::swap && words.is_bell(operation.at) && operation.value == kRung)
                return kRung;
            for (std::size_t i = 0; hands_over(words, operation) && i < bells; ++i) {
                const Location bell = words.bell(i);
                if (perform({Act::swap, bell, kRung, 0, std::memory_order_acq_rel}) == kAsleep)
                    perform({Act::wake, bell});
            }
            return perform(operation);
        };
    };
}

/// A thread with several stages leaves the ring of the last one out when it looks once more before it sleeps.
inline Mutation looks_at_one_ring(WordNames words) {
    constexpr Word kNobodys = kTurnMask;
    return [=](std::size_t) {
        return [=, is_blind = false](const Operation& operation, const Perform& perform) mutable -> Word {
            const bool looks = operation.act == Act::load && words.is_turn(operation.at);
            if (looks && std::exchange(is_blind, false) && words.segment_of(operation.at) > 0)
                return kNobodys;
            if (operation.act == Act::swap) is_blind = words.is_bell(operation.at) && operation.value == 0;
            return perform(operation);
        };
    };
}

/// The bell is hushed by a store, which may come behind the looks that follow.
inline Mutation bell_hushed_by_store(WordNames words) {
    return [=](std::size_t) {
        return [=](const Operation& operation, const Perform& perform) mutable -> Word {
            if (operation.act != Act::swap || !words.is_bell(operation.at) || operation.value != 0)
                return perform(operation);
            perform({Act::store, operation.at, 0, 0, std::memory_order_relaxed});
            return 0;
        };
    };
}

/// A mutation that gives another memory order to the operations for which `is_meant` holds.
template <typename IsMeant>
Mutation weaker(IsMeant is_meant, std::memory_order order) {
    return with([=](Operation& operation) {
        if (is_meant(operation)) operation.order = order;
    });
}

}  // namespace tidemill::explore::wrong
