#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tidemill/scheduling/static/exact/exact_chain.hpp"
#include "tidemill/scheduling/static/schedule.hpp"

namespace tidemill::internal {

/// How many cores of each pool a mixed stage has: four bits for each, as of at most 16 threads none has all.
class MixedCores {
  public:
    explicit MixedCores(std::uint32_t packed = 0) : packed_(packed) {}

    std::size_t of(std::size_t pool) const { return packed_ >> (4 * pool) & 15U; }
    void add(std::size_t pool, std::size_t count) {
        packed_ += static_cast<std::uint32_t>(count) << (4 * pool);
    }
    std::uint32_t packed() const { return packed_; }

  private:
    std::uint32_t packed_;
};

/// Cores of several kinds that do an interval of replicable tasks within a limit, by a word.
///
/// In a word of L letters a thread of weight W may have floor(L x period / W) of them, and a stage fits where
/// for some L its threads may have L or more together. Only the least numbers of cores count: those of which
/// none can be less for the others' sake.
class MixedStages {
  public:
    explicit MixedStages(const ExactChain& chain);

    /// Whether there are kinds to be mixed.
    bool any() const { return pools_.size() > 1; }

    void set_limit(const PeriodLimit& limit);

    /// Finds the least numbers of cores for tasks [begin, end), none of which a single kind could do. False
    /// when all cores for which a word has letters would not do.
    bool find(std::size_t begin, std::size_t end);

    /// Cores that were found last.
    std::span<const MixedCores> found() const { return found_; }

    /// Numbers of cores that were looked at for that.
    std::size_t steps() const { return steps_; }

  private:
    using Letters = std::array<std::int16_t, kMostLetters>;  // [L - 1]
    using Counts = std::array<std::int16_t, kMostLetters>;   // [cores of another kind]

    /// Capacity of the cores of one kind for the interval.
    struct Pool {
        std::size_t pool = 0;
        int cores = 0;      // that a word may have
        int most = 0;       // fewer than do it alone
        int count = 0;      // in the mix that is looked at
        Letters letters{};  // that one thread may have
    };

    void weigh(Pool& pool, std::size_t begin, std::size_t end) const;
    bool all_would_do() const;
    void choose(std::size_t place, const Letters& left);
    void choose_last_two(const Letters& left);
    Counts needed_of_last(const Letters& left) const;
    bool is_least() const;
    bool would_do_without(const Pool& one) const;

    const ExactChain& chain_;
    std::size_t most_letters_;
    std::array<std::uint64_t, kMostLetters> capacity_{};  // [L - 1]: of L periods
    std::vector<Pool> pools_;
    std::vector<MixedCores> found_;
    std::size_t steps_ = 0;
};

/// The word of the shortest period for a stage on these cores, the shortest one of equals.
struct BestWord {
    Ratio period;
    std::vector<std::size_t> pools;    // [thread]
    std::vector<std::size_t> letters;  // [thread]: how many
};

/// For cores that were found for this interval at some limit.
BestWord best_word(const ExactChain& chain, std::size_t begin, std::size_t end, MixedCores cores);

}  // namespace tidemill::internal
