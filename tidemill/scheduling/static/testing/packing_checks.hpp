#pragma once

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tidemill/scheduling/static/bound.hpp"
#include "tidemill/scheduling/static/herad.hpp"
#include "tidemill/scheduling/static/internal/reference.hpp"
#include "tidemill/scheduling/static/packed.hpp"

namespace tidemill::internal {

/// The least period of a problem by trying every packing in whole numbers: each task on one thread or, where
/// it is replicable, on several by any word of so many letters at most.
class EveryPackingTried {
  public:
    EveryPackingTried(const Instance& instance, std::size_t most_letters) : instance_(instance) {
        for (std::size_t letters = 1; letters <= most_letters; ++letters) unit_ = std::lcm(unit_, letters);
        for (std::size_t kind = 0; kind < instance.cores.size(); ++kind)
            kinds_.insert(kinds_.end(), static_cast<std::size_t>(instance.cores[kind]), kind);
        std::vector<std::uint64_t> loads(kinds_.size(), 0);
        for (std::size_t letters = 1; letters <= most_letters; ++letters)
            spread(std::vector<std::size_t>(kinds_.size(), 0), 0, letters, letters);
        place(0, loads);
    }

    std::optional<double> period() const {
        if (best_ == kNowhere) return std::nullopt;
        return static_cast<double>(best_) / static_cast<double>(unit_);
    }

  private:
    struct Word {
        std::vector<std::size_t> letters;  // [thread]
        std::size_t length;
        std::uint64_t unit;  // of a load, for each letter
    };

    void spread(std::vector<std::size_t> letters, std::size_t thread, std::size_t left, std::size_t length) {
        if (thread + 1 == letters.size()) {
            letters[thread] = left;
            // A word that repeats a shorter one loads threads as that does.
            if (std::accumulate(letters.begin(), letters.end(), std::size_t{0},
                                std::gcd<std::size_t, std::size_t>) == 1)
                words_.push_back({letters, length, unit_ / length});
            return;
        }
        for (std::size_t count = 0; count <= left; ++count) {
            letters[thread] = count;
            spread(letters, thread + 1, left - count, length);
        }
    }

    using Loads = std::vector<std::uint64_t>;  // [thread]

    void place(std::size_t task, const Loads& loads) {
        if (task == instance_.size()) {
            best_ = *std::ranges::max_element(loads);
            return;
        }
        Loads with = loads;
        for (const Word& word : words_) {
            if (word.length > 1 && !instance_.replicable[task]) break;
            if (add(task, word, loads, with)) place(task + 1, with);
        }
    }

    // Whether the loads with the task stay below the best so far.
    bool add(std::size_t task, const Word& word, const Loads& loads, Loads& with) const {
        for (std::size_t thread = 0; thread < loads.size(); ++thread) {
            with[thread] = loads[thread];
            if (word.letters[thread] != 0) {
                const std::uint64_t weight = instance_.weights[kinds_[thread]][task];
                if (weight == kNowhere) return false;
                with[thread] += weight * word.unit * word.letters[thread];
            }
            if (with[thread] >= best_) return false;
        }
        return true;
    }

    const Instance& instance_;
    std::uint64_t unit_ = 1;
    std::vector<std::size_t> kinds_;  // [thread]
    std::vector<Word> words_;
    std::uint64_t best_ = kNowhere;
};

inline constexpr double kNoPeriod = std::numeric_limits<double>::infinity();

/// Packs so many random problems of at most so many threads, and tries every packing. mixed() may have longer
/// words.
inline void compare_with_every_packing(const Shape& shape, int count, int most_threads,
                                       std::size_t most_letters) {
    constexpr unsigned kPackingSeed = 317;
    Random random(kPackingSeed + static_cast<unsigned>(shape.kinds));
    int wrong = 0, gained = 0;
    for (int i = 0; i < count && wrong < 3; ++i) {
        Instance instance = random_instance(random, shape);
        while (std::accumulate(instance.cores.begin(), instance.cores.end(), 0) > most_threads)
            --*std::ranges::max_element(instance.cores);
        const Chain chain = to_chain(instance);
        const Platform platform = to_platform(instance);
        std::optional<double> least = EveryPackingTried(instance, most_letters).period();
        std::optional<double> found;
        try {
            least = std::min(least.value_or(kNoPeriod), *mixed(chain, platform).period_us);
        } catch (const ScheduleError&) {
        }
        try {
            const Schedule schedule = packed(chain, platform, {}, {}, most_letters);
            check(schedule, chain);
            check(schedule, platform);
            found = period_us(schedule, chain);
            gained += !schedule.owners().empty();
        } catch (const ScheduleError&) {
        }
        if (found.has_value() == least.has_value() &&
            (!found || std::abs(*found - *least) <= 1e-9 * std::max(1.0, *least)))
            continue;
        ++wrong;
        MESSAGE(fmt::format("case {}: {} instead of {}: weights {} replicable {} cores {}", i,
                            found.value_or(-1), least.value_or(-1), instance.weights, instance.replicable,
                            instance.cores));
    }
    CHECK(wrong == 0);
    CHECK(gained > count / 20);
}

/// Random problems on one to three kinds of 1 to 16 cores: no strategy is slower than one that it promises
/// to be no slower than, and none is faster than the bound.
inline void compare_strategies(int count, int most_tasks, double effort, unsigned seed) {
    constexpr double kRounding = 1 + 1e-9;
    Random random(seed);
    int wrong = 0;
    for (int i = 0; i < count && wrong < 3; ++i) {
        const Shape shape{.max_tasks = most_tasks, .kinds = uniform(random, 1, 3), .max_cores = 16};
        Instance instance = random_instance(random, shape);
        for (int& cores : instance.cores) cores = std::max(cores, 1);
        const Chain chain = to_chain(instance);
        const Platform platform = to_platform(instance);
        const Schedule schedule = packed(chain, platform, {}, {}, kPackedLetters, effort);
        check(schedule, chain);
        check(schedule, platform);
        const double packed_us = period_us(schedule, chain);
        const double mixed_us = *mixed(chain, platform).period_us;
        const double herad_us = *herad(chain, platform).period_us;
        const double bound_us = bound_of(chain, platform).period_us;
        if (bound_us <= packed_us * kRounding && packed_us <= mixed_us * kRounding && mixed_us <= herad_us)
            continue;
        ++wrong;
        MESSAGE(
            fmt::format("seed {}, case {}: bound {}, packed {}, mixed {}, herad {}: weights {} "
                        "replicable {} cores {}",
                        seed, i, bound_us, packed_us, mixed_us, herad_us, instance.weights,
                        instance.replicable, instance.cores));
    }
    CHECK(wrong == 0);
}

}  // namespace tidemill::internal
