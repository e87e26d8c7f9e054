#include "tidemill/scheduling/static/stages/period_search.hpp"

#include <bit>
#include <cmath>

#include "tidemill/scheduling/static/stages/greedy_stages.hpp"

namespace tidemill::internal {
namespace {

constexpr int kLeastStepBits = 20;  // guesses between whole units, where the weights leave room
constexpr double kMicro = 1e6;

/// Narrows the least period between a bound that cannot be beaten and a schedule that exists. When they are
/// near each other, the schedule is likely to be the optimum, and a test of all periods below its own proves
/// it.
class PeriodSearch {
  public:
    PeriodSearch(const ExactChain& chain, StageOptions& options, const Ratio& from, const PowerLimit* limit)
        : chain_(chain), options_(options), limit_(limit), lower_(from) {
        const std::optional<Ratio> safe = safe_period();
        is_safe_ = safe.has_value();
        upper_ = safe.value_or(longest_period());
        step_bits_ = std::clamp(std::countl_zero(upper_.num) - 2, 0, wanted_step_bits());
        if (!limit && chain.is_published()) shorten_greedily();
    }

    std::optional<Ratio> least_period() {
        const std::size_t pool = most_numerous_pool();
        return with_cells_for(chain_.pools[pool].units + 1, [&](auto cell) -> std::optional<Ratio> {
            CoreTable<decltype(cell)> table(chain_, {.counted_pool = pool});
            if (!is_safe_ && !test(table, {upper_})) return std::nullopt;
            bool below = is_narrow();
            while (lower_ < upper_) {
                test(table, below ? PeriodLimit{upper_, true} : PeriodLimit{middle()});
                below = !below && is_narrow();
            }
            return upper_;
        });
    }

  private:
    static constexpr std::uint64_t kFirstStride = 32;
    static constexpr int kHalvings = 5;
    static constexpr int kNarrowBits = 7;  // of the upper end: what pays with random chains

    // Weights of stages on r and s cores differ by at least 1/(rs): with steps finer than that no two lie in
    // one.
    int wanted_step_bits() const {
        return std::max<int>(kLeastStepBits, 2 * std::bit_width(chain_.total_cores()) + 1);
    }

    // The whole chain on one core of a kind that may be used and runs all of it.
    std::optional<Ratio> safe_period() const {
        std::optional<Ratio> best;
        for (std::size_t kind = 0; kind < chain_.kinds.size(); ++kind) {
            if (chain_.able_begin(kind, chain_.size) > 0) continue;
            if (limit_ && limit_->power.per_core(chain_.kinds[kind].pool) > limit_->most) continue;
            const Ratio own{chain_.weight(kind, 0, chain_.size), 1};
            best = best ? std::min(*best, own) : own;
        }
        return best;
    }

    // No stage takes longer, whatever it has of the chain and wherever.
    Ratio longest_period() const {
        constexpr std::uint64_t kMost = std::uint64_t{1} << 62;
        Wide all = 0;
        for (std::size_t i = 0; i < chain_.size; ++i) {
            std::uint64_t most = 0;
            for (std::size_t kind = 0; kind < chain_.kinds.size(); ++kind)
                if (chain_.runs(kind, i)) most = std::max(most, chain_.weight(kind, i, i + 1));
            all += most;
        }
        return {static_cast<std::uint64_t>(std::min<Wide>(all, kMost)), 1};
    }

    template <class Table>
    bool test(Table& table, const PeriodLimit& limit) {
        options_.find(limit, StageOptions::Count::cores);
        const std::optional<std::size_t> state = found(table);
        if (state) {
            upper_ = real_period(chain_, table.solution(options_, *state));
        } else {
            lower_ = limit.period;
        }
        return state.has_value();
    }

    template <class Table>
    std::optional<std::size_t> found(Table& table) const {
        if (!table.fill(options_)) return std::nullopt;
        if (!limit_) return table.states() - 1;
        const auto power = [&](std::size_t state) { return limit_->power.of(chain_, table, state); };
        const std::size_t state = best_state(table, power);
        if (power(state) > limit_->most) return std::nullopt;
        return state;
    }

    // Counting the most numerous kind leaves the fewest states.
    std::size_t most_numerous_pool() const {
        const auto most = std::ranges::max_element(chain_.pools, {}, &CorePool::units);
        return static_cast<std::size_t>(most - chain_.pools.begin());
    }

    // In steps of 2^-step_bits_ units, rounded up.
    std::uint64_t fine(const Ratio& period) const {
        return static_cast<std::uint64_t>(((Wide{period.num} << step_bits_) + period.den - 1) / period.den);
    }

    // FERTAC's schedule costs little to find and is often the optimum or close to it.
    void shorten_greedily() {
        std::uint64_t low = fine(lower_);
        std::uint64_t guess = low;
        for (std::uint64_t stride = low / kFirstStride + 1; guess < fine(upper_); stride *= 2) {
            if (greedy_does(guess)) break;
            low = guess;
            guess += stride;
        }
        for (int i = 0; i < kHalvings && low + 1 < fine(upper_); ++i) {
            guess = low + (fine(upper_) - low) / 2;
            if (!greedy_does(guess)) low = guess;
        }
    }

    bool greedy_does(std::uint64_t steps) {
        const auto stages = last_kind_first(chain_, {steps, std::uint64_t{1} << step_bits_});
        if (stages) upper_ = std::min(upper_, real_period(chain_, *stages));
        return stages.has_value();
    }

    bool is_narrow() const { return fine(upper_) - fine(lower_) <= (fine(upper_) >> kNarrowBits) + 1; }

    // In steps of the grid; within one step of each other, the lower end.
    Ratio middle() const {
        const std::uint64_t low = fine(lower_);
        const std::uint64_t high = fine(upper_);
        if (low + 1 >= high) return lower_;
        return {low + (high - low) / 2, std::uint64_t{1} << step_bits_};
    }

    const ExactChain& chain_;
    StageOptions& options_;
    const PowerLimit* limit_;
    Ratio lower_;
    Ratio upper_;
    bool is_safe_ = true;  // whether there is a schedule of the upper end
    int step_bits_ = 0;
};

}  // namespace

CorePower::CorePower(const Chain& chain, const ExactChain& exact, const CostModel& model) {
    for (const CorePool& pool : exact.pools) {
        const KindCosts kind = model.kind(chain.kinds[pool.chain_kind]);
        per_core_.push_back(static_cast<std::uint64_t>(std::llround(kMicro * (kind.busy_w - kind.idle_w))));
    }
}

std::optional<Ratio> least_period(const ExactChain& chain, StageOptions& options, const Ratio& from,
                                  const PowerLimit* limit) {
    return PeriodSearch(chain, options, from, limit).least_period();
}

}  // namespace tidemill::internal
