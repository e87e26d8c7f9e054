#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "tidemill/schedule/detail_exact_chain.hpp"

namespace tidemill::detail {

/// The longest stage that ends at a given task and fits a period on `cores` cores of `kind`.
struct StageOption {
    std::size_t begin = 0;
    std::size_t kind = 0;
    std::size_t cores = 0;
};

/// Every stage worth trying at one period. Fewer tasks never need more cores, so for each end, kind and
/// number of cores only the longest stage that fits matters, and of several numbers of cores with one begin
/// the least.
class StageOptions {
  public:
    explicit StageOptions(const ExactChain& chain);

    /// Finds the options for a period.
    void find(const Ratio& period);

    /// The options of stages whose last task is end - 1, for the period of the last find().
    std::span<const StageOption> ending_at(std::size_t end) const {
        return std::span(options_).subspan(first_[end - 1], first_[end] - first_[end - 1]);
    }

    /// The least period at which an option becomes longer than at the last find(): whatever could not be done
    /// at that period cannot be done below this one either. Nothing when all options have their full length.
    std::optional<Ratio> next_period() const;

  private:
    void find_ending_at(std::size_t end, std::size_t kind);
    std::uint64_t capacity_of(std::size_t cores);

    const ExactChain& chain_;
    std::optional<Ratio> period_;
    std::vector<StageOption> options_;
    std::vector<std::size_t> first_;                // [end - 1]: where its options start
    std::vector<std::uint64_t> capacities_;         // [cores - 1]: computed as far as needed
    std::vector<std::uint64_t> next_sums_;          // [cores - 1]: least weight that just did not fit
    std::vector<std::vector<std::size_t>> begins_;  // [kind][cores - 1]: only ever grows with the end
};

}  // namespace tidemill::detail
