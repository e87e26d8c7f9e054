#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "tidemill/scheduling/static/objective.hpp"
#include "tidemill/scheduling/static/stages/period_search.hpp"

namespace tidemill::internal {

/// A solution with what decides between solutions.
struct Candidate {
    Solution stages;
    Ratio period;
    std::uint64_t power = 0;         // microwatts
    std::vector<std::size_t> units;  // [pool]
};

/// Whether a candidate is better for a preference among equal periods; periods up to a wanted one are equal.
bool is_better(const Candidate& a, const Candidate& b, Preference preference,
               const std::optional<Ratio>& wanted);

/// Solves a chain for one platform, whose cores are as slow as if all of them were busy.
class Level {
  public:
    /// Throws ScheduleError for chains, platforms or models that cannot be used, and for more cores than
    /// there is memory for under this preference; so do its other functions when the effort is spent. Words
    /// of mixed stages may have so many letters.
    Level(const Chain& chain, const Platform& platform, const CostModel& model, Preference preference,
          Effort& effort, std::size_t most_letters = 0);

    /// The problem in exact integers.
    const ExactChain& exact() const { return exact_; }

    /// The best solution of the least period, or of a wanted one that is longer; nothing where there is none.
    std::optional<Candidate> best(const std::optional<Ratio>& wanted);

    /// The least power of the least period, then the least period of any less power, and so on.
    std::vector<Candidate> pareto_front();

  private:
    std::optional<Candidate> best_below(const Candidate& point);
    Solution fewest_cores() const;
    Solution fewest_stages() const;
    Solution preferred() const;
    Candidate candidate(Solution stages) const;
    std::uint64_t cheapest_core() const;

    Preference preference_;
    ExactChain exact_;
    CorePower power_;
    StageOptions options_;
};

}  // namespace tidemill::internal
