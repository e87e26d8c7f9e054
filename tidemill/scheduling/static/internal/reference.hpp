#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <tuple>
#include <vector>

#include <fmt/format.h>

#include "tidemill/scheduling/static/exact/ratio.hpp"
#include "tidemill/scheduling/static/schedule.hpp"

namespace tidemill::internal {

/// The weight of a task on a kind that it cannot run on.
inline constexpr std::uint64_t kNowhere = std::numeric_limits<std::uint64_t>::max();

/// A scheduling problem in whole units, for tests and benchmarks; kinds in the order in which they are
/// spared.
struct Instance {
    std::vector<std::vector<std::uint64_t>> weights;  // [kind][task]
    std::vector<bool> replicable;
    std::vector<int> cores;  // per kind

    std::size_t size() const { return replicable.size(); }
};

/// Values by which strategies are compared: least first, member by member.
struct Outcome {
    Ratio period;
    std::vector<std::uint64_t> cores;
    std::size_t stages = 0;

    friend bool operator==(const Outcome&, const Outcome&) = default;
    friend bool operator<(const Outcome& a, const Outcome& b) {
        return std::tie(a.period, a.cores, a.stages) < std::tie(b.period, b.cores, b.stages);
    }
};

inline std::string kind_name(std::size_t kind) {
    return kind == 0 ? "big" : kind == 1 ? "little" : fmt::format("kind{}", kind + 1);
}

/// The instance as the library takes it, each unit worth 1/units_per_us µs.
inline Chain to_chain(const Instance& instance, double units_per_us = 1) {
    Chain chain;
    for (std::size_t kind = 0; kind < instance.weights.size(); ++kind) chain.kinds.push_back(kind_name(kind));
    for (std::size_t i = 0; i < instance.size(); ++i) {
        ChainTask task{fmt::format("t{}", i + 1), instance.replicable[i], {}};
        for (const auto& weights : instance.weights)
            task.weight_us.push_back(weights[i] == kNowhere ? kCannotRun
                                                            : static_cast<double>(weights[i]) / units_per_us);
        chain.tasks.push_back(std::move(task));
    }
    return chain;
}

inline Platform to_platform(const Instance& instance) {
    Platform platform;
    for (std::size_t kind = 0; kind < instance.cores.size(); ++kind)
        platform.set(kind_name(kind), instance.cores[kind]);
    return platform;
}

/// Whether all tasks [begin, end) run on a kind.
inline bool all_run(const Instance& instance, std::size_t kind, std::size_t begin, std::size_t end) {
    const auto& weights = instance.weights[kind];
    return std::find(weights.begin() + static_cast<std::ptrdiff_t>(begin),
                     weights.begin() + static_cast<std::ptrdiff_t>(end),
                     kNowhere) == weights.begin() + static_cast<std::ptrdiff_t>(end);
}

/// Weight of a stage by the definition: shared among cores only if every task is replicable.
inline Ratio stage_weight(const Instance& instance, std::size_t kind, std::size_t begin, std::size_t end,
                          std::uint64_t cores) {
    std::uint64_t sum = 0;
    bool shared = true;
    for (std::size_t i = begin; i < end; ++i) {
        sum += instance.weights[kind][i];
        shared = shared && instance.replicable[i];
    }
    return {sum, shared ? cores : 1};
}

using Letters = std::vector<std::size_t>;  // of a word: threads

/// Weight of a mixed stage by the definition: of all threads, the longest time that the frames of a round
/// take it, shared by these frames.
inline Ratio word_weight(const Instance& instance, const std::vector<std::size_t>& kinds,
                         const Letters& letters, std::size_t begin, std::size_t end) {
    std::vector<std::uint64_t> times(kinds.size(), 0);
    for (const std::size_t thread : letters)
        times[thread] += stage_weight(instance, kinds[thread], begin, end, 1).num;
    return {*std::max_element(times.begin(), times.end()), letters.size()};
}

/// True cost of a schedule, computed from the instance alone.
inline Outcome outcome(const Instance& instance, const Schedule& schedule) {
    Outcome result{{}, std::vector<std::uint64_t>(instance.weights.size(), 0), schedule.stages.size()};
    const Chain chain = to_chain(instance);
    for (const Stage& stage : schedule.stages) {
        if (stage.word) {
            std::vector<std::size_t> kinds;
            for (const std::string& kind : stage.word->kinds) kinds.push_back(chain.kind_index(kind));
            for (const std::size_t kind : kinds) ++result.cores[kind];
            result.period =
                std::max(result.period, word_weight(instance, kinds, stage.word->letters, stage.first_task,
                                                    stage.first_task + stage.task_count));
            continue;
        }
        const std::size_t kind = chain.kind_index(stage.core_kind);
        const auto threads = static_cast<std::uint64_t>(stage.threads);
        result.cores[kind] += threads;
        result.period = std::max(result.period, stage_weight(instance, kind, stage.first_task,
                                                             stage.first_task + stage.task_count, threads));
    }
    return result;
}

/// A word for each way in which so many threads can occur in one of at most so many letters, all of them.
inline std::set<Letters> words_made(std::size_t threads, std::size_t most_letters) {
    std::set<Letters> all;
    for (std::size_t length = threads; length <= most_letters; ++length) {
        Letters word(length, 0);
        for (std::size_t place = 0; place < length;) {
            Letters sorted = word;
            std::sort(sorted.begin(), sorted.end());
            if (std::set<std::size_t>(word.begin(), word.end()).size() == threads) all.insert(sorted);
            for (place = 0; place < length && ++word[place] == threads; ++place) word[place] = 0;
        }
    }
    return all;
}

/// words_made(), once.
inline const std::set<Letters>& words_of(std::size_t threads, std::size_t most_letters) {
    static std::map<std::pair<std::size_t, std::size_t>, std::set<Letters>> known;
    const auto [found, is_new] = known.try_emplace({threads, most_letters});
    if (is_new) found->second = words_made(threads, most_letters);
    return found->second;
}

/// Tries every schedule there is, mixed stages too where words may have letters.
class BruteForce {
  public:
    explicit BruteForce(const Instance& instance, std::size_t most_letters = 0)
        : instance_(instance), most_letters_(most_letters) {
        current_.cores.assign(instance.weights.size(), 0);
    }

    Outcome best() { return *best_if_any(); }

    /// Nothing where no schedule puts each task where it can run.
    std::optional<Outcome> best_if_any() {
        extend(0);
        return best_;
    }

  private:
    void extend(std::size_t begin) {
        if (best_ && best_->period < current_.period) return;
        if (begin == instance_.size()) {
            if (!best_ || current_ < *best_) best_ = current_;
            return;
        }
        for (std::size_t end = begin + 1; end <= instance_.size(); ++end) {
            for (std::size_t kind = 0; kind < instance_.weights.size(); ++kind) try_stage(begin, end, kind);
            std::vector<std::size_t> kinds;
            if (most_letters_ > 0 && stage_weight(instance_, 0, begin, end, 2).den == 2)
                try_mixed(begin, end, 0, kinds);
        }
    }

    // Any cores of the kinds from `kind` on beside those of the threads so far, each of their words.
    void try_mixed(std::size_t begin, std::size_t end, std::size_t kind, std::vector<std::size_t>& kinds) {
        if (kind == instance_.weights.size()) return try_words(begin, end, kinds);
        try_mixed(begin, end, kind + 1, kinds);
        if (kinds.size() == most_letters_ || !all_run(instance_, kind, begin, end)) return;
        if (current_.cores[kind] == static_cast<std::uint64_t>(instance_.cores[kind])) return;
        ++current_.cores[kind];
        kinds.push_back(kind);
        try_mixed(begin, end, kind, kinds);
        kinds.pop_back();
        --current_.cores[kind];
    }

    void try_words(std::size_t begin, std::size_t end, const std::vector<std::size_t>& kinds) {
        if (kinds.empty() || kinds.front() == kinds.back()) return;
        const Ratio before = current_.period;
        for (const Letters& letters : words_of(kinds.size(), most_letters_)) {
            current_.period = std::max(before, word_weight(instance_, kinds, letters, begin, end));
            ++current_.stages;
            extend(end);
            --current_.stages;
        }
        current_.period = before;
    }

    void try_stage(std::size_t begin, std::size_t end, std::size_t kind) {
        if (!all_run(instance_, kind, begin, end)) return;
        const auto left = static_cast<std::uint64_t>(instance_.cores[kind]) - current_.cores[kind];
        const Ratio before = current_.period;
        for (std::uint64_t cores = 1; cores <= left; ++cores) {
            current_.period = std::max(before, stage_weight(instance_, kind, begin, end, cores));
            current_.cores[kind] += cores;
            ++current_.stages;
            extend(end);
            --current_.stages;
            current_.cores[kind] -= cores;
            current_.period = before;
        }
    }

    const Instance& instance_;
    std::size_t most_letters_;
    Outcome current_;
    std::optional<Outcome> best_;
};

/// The published dynamic programme for two kinds, in floating point as published: best period for the first j
/// tasks on at most (b, l) cores from the best for fewer tasks and every last stage; ties to fewer big, then
/// fewer little cores. O(n^2 b l (b + l)).
class PublishedHerad {
  public:
    struct Cell {
        double period = std::numeric_limits<double>::infinity();
        int big = 0;
        int little = 0;
        friend bool operator<(const Cell& x, const Cell& y) {
            return std::tie(x.period, x.big, x.little) < std::tie(y.period, y.big, y.little);
        }
    };

    explicit PublishedHerad(const Instance& instance)
        : instance_(instance), big_(instance.cores[0]), little_(instance.cores[1]) {
        cells_.resize((instance.size() + 1) * columns());
        for (std::size_t column = 0; column < columns(); ++column) cells_[column] = {0, 0, 0};
    }

    Cell best() {
        for (std::size_t end = 1; end <= instance_.size(); ++end)
            for (int big = 0; big <= big_; ++big)
                for (int little = 0; little <= little_; ++little) compute(end, big, little);
        return cell(instance_.size(), big_, little_);
    }

  private:
    std::size_t columns() const {
        return static_cast<std::size_t>(big_ + 1) * static_cast<std::size_t>(little_ + 1);
    }

    Cell& cell(std::size_t end, int big, int little) {
        return cells_[end * columns() + static_cast<std::size_t>(big * (little_ + 1) + little)];
    }

    void compute(std::size_t end, int big, int little) {
        Cell best;
        if (big > 0) best = std::min(best, cell(end, big - 1, little));
        if (little > 0) best = std::min(best, cell(end, big, little - 1));
        double on_big = 0;
        double on_little = 0;
        bool replicable = true;
        for (std::size_t begin = end; begin-- > 0;) {
            on_big += static_cast<double>(instance_.weights[0][begin]);
            on_little += static_cast<double>(instance_.weights[1][begin]);
            replicable = replicable && instance_.replicable[begin];
            for (int cores = 1; cores <= (replicable ? big : std::min(big, 1)); ++cores) {
                const Cell& rest = cell(begin, big - cores, little);
                best = std::min(best, {std::max(rest.period, on_big / cores), rest.big + cores, rest.little});
            }
            for (int cores = 1; cores <= (replicable ? little : std::min(little, 1)); ++cores) {
                const Cell& rest = cell(begin, big, little - cores);
                best =
                    std::min(best, {std::max(rest.period, on_little / cores), rest.big, rest.little + cores});
            }
        }
        cell(end, big, little) = best;
    }

    const Instance& instance_;
    int big_;
    int little_;
    std::vector<Cell> cells_;
};

using Random = std::mt19937_64;

inline int uniform(Random& random, int least, int most) {
    return std::uniform_int_distribution(least, most)(random);
}

/// The size of random instances.
struct Shape {
    int max_tasks;
    int kinds;
    int max_cores;
    std::optional<int> most_weight{};  // else small ones with many ties, equal ones, or huge ones
    int nowhere_of_ten = 0;            // weights that are kNowhere
};

// Weights come from small ranges so that ties and zeros are common, or from one huge one.
inline std::uint64_t random_weight(Random& random, int flavour) {
    switch (flavour) {
        case 0:
            return static_cast<std::uint64_t>(uniform(random, 0, 3));
        case 1:
            return static_cast<std::uint64_t>(uniform(random, 1, 30));
        case 2:
            return static_cast<std::uint64_t>(uniform(random, 5, 6));
        default:
            return 1'000'000'000'000'000U + static_cast<std::uint64_t>(uniform(random, 0, 9));
    }
}

inline Instance random_instance(Random& random, const Shape& shape) {
    Instance instance;
    const int tasks = uniform(random, 1, shape.max_tasks);
    const int flavour = uniform(random, 0, 3);
    const int sequential_of_ten = uniform(random, 0, 10);
    for (int i = 0; i < tasks; ++i) instance.replicable.push_back(uniform(random, 1, 10) > sequential_of_ten);
    for (int kind = 0; kind < shape.kinds; ++kind) {
        instance.cores.push_back(uniform(random, kind == 0 ? 1 : 0, shape.max_cores));
        auto& weights = instance.weights.emplace_back();
        for (int i = 0; i < tasks; ++i)
            weights.push_back(shape.most_weight
                                  ? static_cast<std::uint64_t>(uniform(random, 0, *shape.most_weight))
                                  : random_weight(random, flavour));
    }
    std::shuffle(instance.cores.begin(), instance.cores.end(), random);
    if (shape.nowhere_of_ten > 0)
        for (auto& weights : instance.weights)
            for (auto& weight : weights)
                if (uniform(random, 1, 10) <= shape.nowhere_of_ten) weight = kNowhere;
    return instance;
}

}  // namespace tidemill::internal
