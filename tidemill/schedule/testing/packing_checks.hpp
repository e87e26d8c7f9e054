#pragma once

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tidemill/schedule/internal/reference.hpp"
#include "tidemill/schedule/packed.hpp"

namespace tidemill::internal {

/// The least period of a problem by trying every packing in whole numbers: each task on one thread or, where
/// it is replicable, on several by any word of so many letters at most.
class EveryPackingTried {
  public:
    EveryPackingTried(const Instance& instance, std::size_t most_letters) : instance_(instance) {
        for (std::size_t letters = 1; letters <= most_letters; ++letters) unit_ = std::lcm(unit_, letters);
        for (std::size_t kind = 0; kind < instance.cores.size(); ++kind)
            kinds_.insert(kinds_.end(), static_cast<std::size_t>(instance.cores[kind]), kind);
        loads_.assign(kinds_.size(), 0);
        for (std::size_t letters = 1; letters <= most_letters; ++letters)
            spread(std::vector<std::size_t>(kinds_.size(), 0), 0, letters, letters);
        place(0);
    }

    std::optional<double> period() const {
        if (best_ == kNowhere) return std::nullopt;
        return static_cast<double>(best_) / static_cast<double>(unit_);
    }

  private:
    struct Word {
        std::vector<std::size_t> letters;  // [thread]
        std::size_t length;
    };

    void spread(std::vector<std::size_t> letters, std::size_t thread, std::size_t left, std::size_t length) {
        if (thread + 1 == letters.size()) {
            letters[thread] = left;
            words_.push_back({letters, length});
            return;
        }
        for (std::size_t count = 0; count <= left; ++count) {
            letters[thread] = count;
            spread(letters, thread + 1, left - count, length);
        }
    }

    void place(std::size_t task) {
        if (*std::ranges::max_element(loads_) >= best_) return;
        if (task == instance_.size()) {
            best_ = *std::ranges::max_element(loads_);
            return;
        }
        for (const Word& word : words_) {
            if (word.length > 1 && !instance_.replicable[task]) break;
            const auto before = loads_;
            if (add(task, word)) place(task + 1);
            loads_ = before;
        }
    }

    bool add(std::size_t task, const Word& word) {
        for (std::size_t thread = 0; thread < loads_.size(); ++thread) {
            if (word.letters[thread] == 0) continue;
            const std::uint64_t weight = instance_.weights[kinds_[thread]][task];
            if (weight == kNowhere) return false;
            loads_[thread] += weight * unit_ / word.length * word.letters[thread];
        }
        return true;
    }

    const Instance& instance_;
    std::uint64_t unit_ = 1;
    std::vector<std::size_t> kinds_;  // [thread]
    std::vector<Word> words_;
    std::vector<std::uint64_t> loads_;
    std::uint64_t best_ = kNowhere;
};

/// Packs so many random problems of at most so many threads, and tries every packing.
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
        const std::optional<double> least = EveryPackingTried(instance, most_letters).period();
        std::optional<double> found;
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

}  // namespace tidemill::internal
