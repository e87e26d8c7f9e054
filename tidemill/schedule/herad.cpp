#include "tidemill/schedule/herad.hpp"

#include <bit>

#include <fmt/format.h>

#include "tidemill/schedule/detail_core_table.hpp"
#include "tidemill/schedule/detail_exact_chain.hpp"
#include "tidemill/schedule/detail_lower_bound.hpp"
#include "tidemill/schedule/detail_solution.hpp"
#include "tidemill/schedule/detail_stage_options.hpp"

namespace tidemill {
namespace {

using detail::CoreLimits;
using detail::CoreTable;
using detail::ExactChain;
using detail::Ratio;
using detail::Solution;
using detail::StageOptions;
using detail::Wide;

constexpr std::size_t kMaxCells = std::size_t{1} << 28;
constexpr std::size_t kMaxOptions = std::size_t{1} << 25;
constexpr int kStepBits = 20;  // guesses between whole units, where the weights leave room
constexpr std::uint64_t kMaxStride = std::uint64_t{1} << 60;

CoreLimits all_cores(const ExactChain& chain, std::size_t counted_kind) {
    CoreLimits limits{.cores = {}, .counted_kind = counted_kind};
    for (const auto& kind : chain.kinds) limits.cores.push_back(static_cast<std::size_t>(kind.cores));
    return limits;
}

// Calls use(Value{}) with the smallest integer type whose tables hold costs up to `most`: small is fast.
template <class Use>
auto with_cells_for(std::size_t most, Use use) {
    if (most <= CoreTable<std::int16_t>::kImpossible) return use(std::int16_t{});
    if (most <= CoreTable<std::int32_t>::kImpossible) return use(std::int32_t{});
    return use(std::int64_t{});
}

/// Narrows the least period between a bound that cannot be beaten and a schedule that exists. Both ends only
/// ever take values at which something changes, so they meet at the exact optimum.
class PeriodSearch {
  public:
    PeriodSearch(const ExactChain& chain, StageOptions& options)
        : chain_(chain), options_(options), lower_(lower_bound(chain)), upper_(one_core_period(chain)) {
        step_bits_ = std::clamp(std::countl_zero(upper_.num) - 2, 0, kStepBits);
        stride_ = fine(lower_) / 16 + 1;
    }

    Ratio least_period() {
        const CoreLimits limits = all_cores(chain_, most_numerous_kind());
        return with_cells_for(limits.cores[limits.counted_kind] + 1, [&](auto cell) {
            CoreTable<decltype(cell)> table(chain_, limits, 1, 0);
            for (Ratio period = lower_; lower_ < upper_; period = next_guess()) test(table, period);
            return upper_;
        });
    }

  private:
    template <class Table>
    void test(Table& table, const Ratio& period) {
        options_.find(period);
        if (table.fill(options_)) {
            upper_ = real_period(chain_, table.solution(options_, table.last_state()));
            solved_ = true;
        } else {
            lower_ = std::min(upper_, options_.next_period().value_or(upper_));
        }
    }

    // Counting the most numerous kind leaves the fewest states.
    std::size_t most_numerous_kind() const {
        const auto most = std::ranges::max_element(chain_.kinds, {}, &detail::ExactKind::cores);
        return static_cast<std::size_t>(most - chain_.kinds.begin());
    }

    // In steps of 2^-step_bits_ units, rounded up.
    std::uint64_t fine(const Ratio& period) const {
        return static_cast<std::uint64_t>(((Wide{period.num} << step_bits_) + period.den - 1) / period.den);
    }

    // The optimum tends to lie close above the bound: stride away from it, faster each time, until a schedule
    // has been found; then bisect. Within one step of each other, the lower end itself is the candidate.
    Ratio next_guess() {
        const std::uint64_t low = fine(lower_);
        const std::uint64_t high = fine(upper_);
        if (low >= high) return lower_;
        std::uint64_t guess = low + (high - low) / 2;
        if (!solved_) guess = std::min(guess, low + stride_);
        stride_ = std::min(stride_ * 4, kMaxStride);
        return {guess, std::uint64_t{1} << step_bits_};
    }

    const ExactChain& chain_;
    StageOptions& options_;
    Ratio lower_;
    Ratio upper_;
    int step_bits_ = 0;
    std::uint64_t stride_ = 1;
    bool solved_ = false;
};

// The state that spares cores kind by kind: the table counts the first kind and bounds the others, so its
// last row is the whole trade between them.
template <class Table>
std::size_t sparing_state(const Table& table, CoreLimits limits, std::size_t end, std::size_t per_core) {
    const auto first_kind_cores = [&](std::size_t state) {
        return static_cast<std::size_t>(table.cost(end, state)) / per_core;
    };
    std::size_t state = table.last_state();
    const std::size_t fewest = first_kind_cores(state);
    for (std::size_t kind = 1; kind < limits.cores.size(); ++kind) {
        for (; limits.cores[kind] > 0; --limits.cores[kind]) {
            const std::size_t fewer = state - table.stride(kind);
            if (first_kind_cores(fewer) != fewest) break;
            state = fewer;
        }
    }
    return state;
}

// A core of the first kind costs more than any number of stages, so one table settles both.
Solution sparing_solution(const ExactChain& chain, const StageOptions& options) {
    const CoreLimits limits = all_cores(chain, 0);
    const std::size_t per_core = chain.size + 1;
    return with_cells_for(per_core * (limits.cores[0] + 1), [&](auto cell) {
        using Cell = decltype(cell);
        CoreTable<Cell> table(chain, limits, static_cast<Cell>(per_core), 1);
        table.fill(options);
        return table.solution(options, sparing_state(table, limits, chain.size, per_core));
    });
}

// Keeps the table and the list of options, which grow with the cores, within about a gigabyte each.
void check_size(const ExactChain& chain) {
    Wide cells = chain.size + 1;
    for (std::size_t kind = 1; kind < chain.kinds.size(); ++kind)
        cells =
            std::min<Wide>(cells * (static_cast<std::size_t>(chain.kinds[kind].cores) + 1), kMaxCells + 1);
    if (cells > kMaxCells || Wide{chain.size} * chain.total_cores() > kMaxOptions)
        throw ScheduleError(
            fmt::format("herad: {} tasks on {} cores of {} kinds need too large a table; give fewer "
                        "cores or fewer kinds",
                        chain.size, chain.total_cores(), chain.kinds.size()));
}

}  // namespace

Schedule herad(const Chain& chain, const Platform& platform) {
    const ExactChain exact = detail::exact_chain(chain, platform);
    check_size(exact);
    StageOptions options(exact);
    const Ratio period = PeriodSearch(exact, options).least_period();
    options.find(period);
    return to_schedule(chain, exact, sparing_solution(exact, options), "herad");
}

}  // namespace tidemill
