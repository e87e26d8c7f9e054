#pragma once

#include <cstdint>
#include <span>

#include "tidemill/scheduling/unequal/factor_matrix.hpp"

namespace tidemill::bridge {

/// Work of a task on a core, as far as it was counted: 0 where it was not.
struct Sample {
    std::uint64_t time_ns = 0;       ///< of processor time
    std::uint64_t instructions = 0;  ///< or another count of work that is the same on every kind of core
    std::uint64_t cycles = 0;
    std::uint64_t misses = 0;  ///< of the last level of caches

    Sample& operator+=(const Sample& other) {
        time_ns += other.time_ns;
        instructions += other.instructions;
        cycles += other.cycles;
        misses += other.misses;
        return *this;
    }
    Sample halved() const { return {time_ns / 2, instructions / 2, cycles / 2, misses / 2}; }
};

/// Recent work of a task on one kind of core. Of what lies further back less and less counts.
struct History {
    static constexpr std::uint32_t kEnough = 8;  ///< samples from which on a factor counts as measured

    Sample sum{};
    std::uint32_t samples = 0;

    void note(const Sample& sample) {
        if (++samples >= 2 * kEnough) {
            sum = sum.halved();
            samples = kEnough;
        }
        sum += sample;
    }
    /// Time for a unit of work; 0 where that was not counted.
    double ns_per_instruction() const {
        return sum.instructions == 0
                   ? 0
                   : static_cast<double>(sum.time_ns) / static_cast<double>(sum.instructions);
    }
    Quality quality() const {
        return samples == 0 ? Quality::absent : samples < kEnough ? Quality::estimated : Quality::measured;
    }
};

/// How many times longer the task takes for the same work on a kind than on kind 0: of what was seen on both,
/// absent where one of them is missing. `on_kinds` is the task's history on every kind.
Factor time_ratio(std::span<const History> on_kinds, policy::KindId kind);

}  // namespace tidemill::bridge
