#pragma once

#include <optional>
#include <utility>

#include "tidemill/runtime/verify/testing/pool_runs.hpp"
#include "tidemill/runtime/verify/testing/wrong_turns.hpp"

/// Mistakes that the shipped pool might make, made between it and its machine: each must be caught.
namespace tidemill::explore::wrong {

inline bool unlocks(const PoolWords& words, const Operation& operation) {
    return operation.act == Act::store && words.is_lock(operation.at);
}
inline bool resets(const PoolWords& words, const Operation& operation) {
    return operation.act == Act::store && words.is_bell(operation.at);
}

/// ring() leaves a word that says so, but wakes no sleeping thread.
inline Mutation ring_without_wake() {
    return without([](const Operation& operation) { return operation.act == Act::wake; });
}

/// A worker that goes to sleep does not see that it was rung just before.
inline Mutation asleep_in_any_case(PoolWords words) {
    return [words](std::size_t) {
        return [words](const Operation& operation, const Perform& perform) -> Word {
            const bool lies_down = operation.act == Act::exchange && words.is_bell(operation.at);
            if (!lies_down) return perform(operation);
            perform({Act::store, operation.at, operation.value, 0, operation.order});
            return operation.expected;
        };
    };
}

/// A bell is reset behind the turn in which its worker looks at the board, not before.
inline Mutation reset_after_look(PoolWords words) {
    return [words](std::size_t) {
        return [words, held = std::optional<Operation>(), looks = false](const Operation& operation,
                                                                         const Perform& perform) mutable {
            if (resets(words, operation)) {
                held = operation;
                looks = false;
                return Word{0};
            }
            const Word answer = perform(operation);
            if (!held || !unlocks(words, operation)) return answer;
            if (std::exchange(looks, true)) perform(*std::exchange(held, std::nullopt));
            return answer;
        };
    };
}

/// Nobody rings for another.
inline Mutation others_not_rung(PoolWords words) {
    return [words](std::size_t thread) {
        return [words, thread](const Operation& operation, const Perform& perform) -> Word {
            const bool rings = operation.act == Act::swap && words.is_bell(operation.at);
            const bool own = words.is_bell_of(operation.at, static_cast<WorkerId>(thread));
            return rings && !own ? 0 : perform(operation);
        };
    };
}

/// One thread does not take the lock.
inline Mutation without_lock(PoolWords words, std::size_t careless) {
    return [words, careless](std::size_t thread) {
        return [words, careless, thread](const Operation& operation, const Perform& perform) -> Word {
            const bool of_lock = operation.act != Act::note && words.is_lock(operation.at);
            return of_lock && thread == careless ? 0 : perform(operation);
        };
    };
}

/// The lock is looked at, then taken.
inline Mutation lock_in_two_steps(PoolWords words) {
    return [words](std::size_t) {
        return [words](const Operation& operation, const Perform& perform) -> Word {
            if (operation.act != Act::swap || !words.is_lock(operation.at)) return perform(operation);
            const Word seen = perform({Act::load, operation.at, 0, 0, operation.order});
            perform({Act::store, operation.at, operation.value, 0, operation.order});
            return seen;
        };
    };
}

}  // namespace tidemill::explore::wrong
