#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "tidemill/scheduling/static/exact/exact_chain.hpp"
#include "tidemill/scheduling/static/stages/effort.hpp"
#include "tidemill/scheduling/static/stages/solution.hpp"

namespace tidemill::internal {

/// Stages, with the sum of what each of them takes on one thread, in units.
struct TimedSolution {
    Solution stages;
    std::uint64_t latency = 0;
};

/// Least latencies of a chain within periods. A stage takes a frame as long on many threads as on one, so of
/// each only the fewest cores that hold the period are worth trying; a table over the tasks done and the
/// units used of each pool then holds the least sum.
class LatencyTable {
  public:
    /// `batches`: how many executions a kind takes at once, so that each takes as long as all of them. Throws
    /// ScheduleError where the table would be too large.
    LatencyTable(const ExactChain& chain, Effort& effort, std::vector<std::uint64_t> batches = {});

    /// The solution of least latency whose stages are within the limit, on the fewest units of the first
    /// pool, then of the next; nothing where there is none.
    std::optional<TimedSolution> least(const PeriodLimit& limit);

  private:
    static constexpr std::uint64_t kNone = ~std::uint64_t{0};

    /// A stage that ends before `end`, and how far back in the table it leads.
    struct Step {
        StageOption stage;
        std::size_t pool = 0;
        std::size_t units = 0;
        std::uint64_t latency = 0;
    };

    std::vector<Step> steps_to(std::size_t end, const PeriodLimit& limit) const;
    std::optional<Step> step(std::size_t kind, std::size_t begin, std::size_t end,
                             const PeriodLimit& limit) const;
    void fill(std::size_t end, const std::vector<Step>& steps);
    std::size_t fewest_units() const;
    TimedSolution traced(const PeriodLimit& limit) const;

    std::size_t units(std::size_t state, std::size_t pool) const {
        return state / strides_[pool] % (chain_.pools[pool].units + 1);
    }
    std::uint64_t& at(std::size_t end, std::size_t state) { return cells_[end * states_ + state]; }
    std::uint64_t at(std::size_t end, std::size_t state) const { return cells_[end * states_ + state]; }
    std::uint64_t through(const Step& step, std::size_t state) const;

    const ExactChain& chain_;
    Effort& effort_;
    std::vector<std::uint64_t> batches_;  // [kind]; empty: 1 each
    std::vector<std::size_t> strides_;    // [pool]: the first changes slowest
    std::size_t states_ = 1;
    std::vector<std::uint64_t> cells_;  // [tasks done][state]: with at most these units
};

}  // namespace tidemill::internal
