#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "tidemill/schedule/detail_exact_chain.hpp"
#include "tidemill/schedule/detail_work_bound.hpp"

namespace tidemill::detail {

/// A stage that ends at a given task and fits a period on `cores` cores of `kind`.
struct StageOption {
    std::size_t begin = 0;
    std::size_t kind = 0;
    std::size_t cores = 0;
};

/// Every stage worth trying at one period. Where stages cost nothing, fewer tasks never need more cores, so
/// for each end, kind and number of cores only the longest stage that fits matters, and of several numbers of
/// cores with one begin the least. Where they do, every begin matters, on the fewest cores. Either way a
/// stage is left out when its cores do so little for their price that the others cannot do the rest of the
/// work.
class StageOptions {
  public:
    explicit StageOptions(const ExactChain& chain);

    /// Whether stages count for something, or only their cores do.
    enum class Count { cores, stages };

    /// Finds the options for a period. Where only cores count, a stage of which two in a row do as much on no
    /// more cores is left out: most of the long ones are.
    void find(const Ratio& period, Count count = Count::stages);

    /// The options of stages whose last task is end - 1, for the period of the last find().
    std::span<const StageOption> ending_at(std::size_t end) const {
        return std::span(options_).subspan(first_[end - 1], first_[end] - first_[end - 1]);
    }

    /// The least period at which an option may be longer or new: whatever could not be done at the last
    /// find()'s period cannot be done below this one either. Nothing when there are no more options to come.
    std::optional<Ratio> next_period() const;

    /// A period that no schedule can beat.
    Ratio lower_bound() const { return work_.period(); }

  private:
    void find_longest(std::size_t end, std::size_t kind);
    void find_all(std::size_t end, std::size_t kind);
    bool splits(std::size_t begin, std::size_t kind, std::size_t cores) const;
    void offer(std::size_t begin, std::size_t end, std::size_t kind, std::size_t cores);
    bool wastes_too_much(std::size_t begin, std::size_t end, std::size_t kind);
    std::uint64_t capacity_of(std::size_t cores);
    void may_fit_at(const Ratio& period);

    const ExactChain& chain_;
    WorkBound work_;
    std::optional<Ratio> period_;
    Count count_ = Count::stages;
    std::uint64_t budget_ = 0;  // what all cores are worth in the period
    std::uint64_t next_budget_ = 0;
    std::optional<Ratio> next_;
    std::vector<StageOption> options_;
    std::vector<std::size_t> first_;                  // [end - 1]: where its options start
    std::vector<std::uint64_t> capacities_;           // [cores - 1]: computed as far as needed
    std::vector<std::uint64_t> next_sums_;            // [cores - 1]: least weight that just did not fit
    std::vector<std::vector<std::size_t>> begins_;    // [kind][cores - 1]: only ever grows with the end
    std::vector<std::vector<std::uint64_t>> others_;  // [kind][cores - 1]: what all other cores are worth
};

}  // namespace tidemill::detail
