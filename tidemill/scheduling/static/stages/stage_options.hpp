#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "tidemill/scheduling/static/bounds/work_bound.hpp"
#include "tidemill/scheduling/static/exact/exact_chain.hpp"
#include "tidemill/scheduling/static/stages/effort.hpp"
#include "tidemill/scheduling/static/stages/mixed_stages.hpp"

namespace tidemill::internal {

/// A stage that ends at a given task and fits a period on `cores` cores of `kind`, or, where it is mixed, on
/// MixedCores. Small, as a search looks at thousands.
struct StageOption {
    static constexpr std::uint32_t kMixed = std::numeric_limits<std::uint32_t>::max();

    StageOption(std::size_t begin_, std::size_t kind_, std::size_t cores_)
        : begin(static_cast<std::uint32_t>(begin_)),
          kind(static_cast<std::uint32_t>(kind_)),
          cores(static_cast<std::uint32_t>(cores_)) {}

    bool is_mixed() const { return kind == kMixed; }

    /// Calls use(kind, cores) for each kind that the stage has cores of.
    template <class Use>
    void for_each_kind(const ExactChain& chain, Use use) const {
        if (!is_mixed()) return use(std::size_t{kind}, std::size_t{cores});
        for (std::size_t pool = 0; pool < chain.pools.size(); ++pool)
            if (const std::size_t count = MixedCores(cores).of(pool); count > 0)
                use(chain.pools[pool].whole, count);
    }

    std::uint32_t begin;
    std::uint32_t kind;
    std::uint32_t cores;
};

/// The longest interval before each end whose sum stays within a limit, for ends that only grow.
class Reach {
  public:
    Reach(const std::vector<std::uint64_t>& sums, std::uint64_t most) : sums_(sums), most_(most) {}

    /// Where the interval that ends before task `end` begins; `end` where not even one task fits.
    std::size_t begin(std::size_t end) {
        while (sums_[end] - sums_[begin_] > most_) ++begin_;
        return begin_;
    }

  private:
    const std::vector<std::uint64_t>& sums_;
    std::uint64_t most_;
    std::size_t begin_ = 0;
};

/// Every stage worth trying at one period. Where stages cost nothing, fewer tasks never need more cores, so
/// for each end, kind and number of cores only the longest stage that fits matters. Where they do, every
/// begin matters, on the fewest cores. Likewise for mixed stages, with the numbers of which none can be less
/// in place of one number. Either way a stage is left out when its cores do so little for their price that
/// the others cannot do the rest of the work.
class StageOptions {
  public:
    StageOptions(const ExactChain& chain, Effort& effort);

    /// Whether stages count for something, or only their cores do.
    enum class Count { cores, stages };

    /// Finds the options for a limit. Where only cores count, a stage of which two in a row do as much on no
    /// more cores is left out: most of the long ones are.
    void find(const PeriodLimit& limit, Count count = Count::stages);

    /// The options of stages whose last task is end - 1, for the limit of the last find().
    std::span<const StageOption> ending_at(std::size_t end) const {
        return std::span(options_).subspan(first_[end - 1], first_[end] - first_[end - 1]);
    }

    /// A period that no schedule can beat.
    Ratio lower_bound() const { return work_.period(); }

    /// Effort to which looking at the options is charged.
    Effort& effort() const { return effort_; }

  private:
    // How often a period fits into the first tasks' weight, and the rest, in parts of the period's
    // denominator.
    struct Place {
        std::uint64_t periods = 0;
        std::uint64_t rest = 0;
    };

    // One kind's pointers for the ends of one find().
    struct Kind {
        Reach on_one_core;
        Reach on_all_cores;
        Reach affordable;
        std::vector<Place> places{};  // [j]: of the first j tasks, as far as needed
        std::vector<Reach>
            on_cores{};  // [k]: on k + 2 cores; made where runs are longer than there are cores
    };

    void find_longest(std::size_t end, std::size_t kind);
    void find_replicated(std::size_t lowest, std::size_t begin, std::size_t end, std::size_t kind);
    template <class Use>
    void for_each_begin(std::size_t lowest, std::size_t begin, std::size_t end, std::size_t kind, Use use);
    std::vector<Reach>& reaches(std::size_t kind);
    void find_all(std::size_t end, std::size_t kind);
    void find_mixed(std::size_t end);
    std::size_t lowest_mixed(std::size_t end);
    void offer_mixed(std::size_t begin, std::size_t end);
    bool offer(std::size_t begin, std::size_t end, std::size_t kind, std::size_t cores);
    std::uint64_t loss(std::size_t kind, std::size_t task) const;
    const Place* places_up_to(std::size_t end, std::size_t kind);

    const ExactChain& chain_;
    Effort& effort_;
    WorkBound work_;
    std::vector<std::vector<std::uint64_t>>
        losses_;  // [kind][j]: beyond the least price of the first j tasks
    std::optional<PeriodLimit> limit_;
    Count count_ = Count::stages;
    Wide spare_ = 0;  // what all cores are worth in the period beyond all work, times the denominator
    std::vector<Kind> kinds_;
    MixedStages mixed_;
    std::vector<std::size_t> offered_;  // options of the mixed stages that begin at a task, by their places
    std::vector<std::size_t> shorter_;  // those that begin a task later
    std::vector<StageOption> options_;
    std::vector<std::size_t> first_;  // [end - 1]: where its options start
};

}  // namespace tidemill::internal
