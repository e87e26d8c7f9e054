#pragma once

#include <cstddef>
#include <optional>

#include "tidemill/scheduling/static/stages/solution.hpp"

namespace tidemill::internal {

/// A stage from a given first task on; `fits` says whether it does within the period and the cores that are
/// left.
struct GreedyStage {
    std::size_t end = 0;
    std::size_t cores = 1;
    bool fits = false;
};

/// Builds the stages of the published ComputeStage for one period, in the published model.
class StageBuilder {
  public:
    StageBuilder(const ExactChain& chain, const Ratio& period) : chain_(chain), period_(period) {}

    /// The stage from a task on, on at most so many cores of a kind.
    GreedyStage stage(std::size_t begin, std::size_t kind, std::size_t available) const;

  private:
    GreedyStage longest(std::size_t begin, std::size_t kind, std::size_t available) const;
    std::size_t pack(std::size_t begin, std::size_t kind, std::size_t cores, std::size_t most) const;
    std::size_t cores_for(std::uint64_t sum, std::size_t available) const;

    const ExactChain& chain_;
    Ratio period_;
};

/// FERTAC's stages for a period, each on the last kind that can do it; nothing when one cannot be done.
std::optional<Solution> last_kind_first(const ExactChain& chain, const Ratio& period);

}  // namespace tidemill::internal
