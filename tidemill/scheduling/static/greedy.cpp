#include "tidemill/scheduling/static/greedy.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <optional>
#include <unordered_map>

#include <fmt/format.h>

#include "tidemill/scheduling/static/stages/effort.hpp"
#include "tidemill/scheduling/static/stages/greedy_stages.hpp"

namespace tidemill {
namespace {

using internal::Effort;
using internal::ExactChain;
using internal::GreedyStage;
using internal::Ratio;
using internal::Solution;
using internal::StageBuilder;
using internal::Wide;

constexpr std::size_t kMaxStates = std::size_t{1} << 30;  // keeps keys far from overflow
constexpr std::size_t kMaxDepth = 8192;                   // of recursion: stages, of which each has a core
constexpr std::size_t kMaxKnown = std::size_t{1} << 23;   // half a gigabyte
constexpr std::uint64_t kStepsPerState = 1000;

/// The best rest of the chain for each first task and cores left, each computed once.
class TwoChoices {
  public:
    TwoChoices(const ExactChain& chain, const Ratio& period, Effort& effort)
        : chain_(chain), builder_(chain, period), effort_(effort) {
        if (std::min<std::uint64_t>(chain.size, chain.total_cores()) > kMaxDepth)
            throw ScheduleError(fmt::format(
                "2catac: more than {} tasks on more than {} cores; give fewer of either, or use fertac",
                kMaxDepth, kMaxDepth));
        strides_.resize(chain.kinds.size());
        for (std::size_t kind = chain.kinds.size(); kind-- > 0;) {
            strides_[kind] = states_;
            states_ *= static_cast<std::size_t>(chain.kinds[kind].cores) + 1;
            if (states_ > kMaxStates / chain.size)
                throw ScheduleError(
                    "2catac: too many combinations of tasks and cores; give fewer cores or kinds");
        }
    }

    std::optional<Solution> solve() {
        std::size_t left = states_ - 1;
        if (rest(0, left).cost == kImpossible) return std::nullopt;
        Solution stages;
        for (std::size_t begin = 0; begin < chain_.size;) {
            const Choice& choice = rest(begin, left);
            stages.push_back({begin, choice.kind, choice.cores});
            left -= choice.cores * strides_[choice.kind];
            begin = choice.end;
        }
        return stages;
    }

  private:
    static constexpr std::size_t kImpossible = std::numeric_limits<std::size_t>::max();

    // Cores used in all, as a mixed-radix number with the first kind in front: compares kind by kind.
    struct Choice {
        std::size_t cost = kImpossible;
        std::size_t kind = 0;
        std::size_t cores = 0;
        std::size_t end = 0;
    };

    Choice rest(std::size_t begin, std::size_t left) {
        if (begin == chain_.size) return {0, 0, 0, 0};
        const std::size_t key = begin * states_ + left;
        if (const auto known = known_.find(key); known != known_.end()) return known->second;
        if (known_.size() == kMaxKnown)
            throw ScheduleError(
                fmt::format("2catac: more than {} combinations of tasks and cores; give fewer cores or kinds",
                            kMaxKnown));
        effort_.spend(kStepsPerState);
        Choice best;
        for (std::size_t kind = 0; kind < strides_.size(); ++kind) {
            const std::size_t available =
                left / strides_[kind] % (static_cast<std::size_t>(chain_.kinds[kind].cores) + 1);
            const GreedyStage stage = builder_.stage(begin, kind, available);
            if (!stage.fits) continue;
            const std::size_t price = stage.cores * strides_[kind];
            const std::size_t after = rest(stage.end, left - price).cost;
            if (after != kImpossible && price + after < best.cost)
                best = {price + after, kind, stage.cores, stage.end};
        }
        return known_[key] = best;
    }

    const ExactChain& chain_;
    StageBuilder builder_;
    Effort& effort_;
    std::vector<std::size_t> strides_;
    std::size_t states_ = 1;
    std::unordered_map<std::size_t, Choice> known_;
};

// Published P_min, with the faster kind of each task where it says big.
Ratio published_lower_bound(const ExactChain& chain) {
    std::uint64_t sum = 0;
    std::uint64_t sequential = 0;
    for (std::size_t i = 0; i < chain.size; ++i) {
        std::uint64_t least = chain.sum(0, i, i + 1);
        for (std::size_t kind = 1; kind < chain.kinds.size(); ++kind)
            least = std::min(least, chain.sum(kind, i, i + 1));
        sum += least;
        if (!chain.replicable(i, i + 1)) sequential = std::max(sequential, least);
    }
    return std::max(Ratio{sum, chain.total_cores()}, Ratio{sequential, 1});
}

/// Halves the interval of periods from `lower` on until no two different stage weights fit into what is left.
template <class Build>
Solution least_period(const ExactChain& chain, const Ratio& lower, Build build) {
    if (auto stages = build(chain, lower)) return *std::move(stages);
    const Ratio upper = internal::one_core_period(chain);
    Solution best = *build(chain, upper);
    const Ratio real = std::min(upper, internal::real_period(chain, best));

    // Weights of stages on r and s cores differ by at least 1/(rs).
    const int wanted = 2 * std::bit_width(chain.total_cores()) + 1;
    const int bits = std::clamp(wanted, 0, std::max(0, std::countl_zero(real.num) - 2));
    const auto steps = [&](const Ratio& period) {
        return static_cast<std::uint64_t>((Wide{period.num} << bits) / period.den);
    };
    std::uint64_t low = steps(lower);
    std::uint64_t high = steps(real);
    while (high > low + 1) {
        const std::uint64_t middle = low + (high - low) / 2;
        auto stages = build(chain, Ratio{middle, std::uint64_t{1} << bits});
        if (!stages) {
            low = middle;
            continue;
        }
        high = steps(internal::real_period(chain, *stages));
        best = *std::move(stages);
    }
    return best;
}

// The search's way of building stages, for what an objective asks of every strategy.
template <class Build>
Schedule solve(const Chain& chain, const Platform& platform, const Objective& objective,
               std::string_view name, Build build) {
    if (objective.among_equals != Preference::kFewestCores)
        throw ScheduleError(fmt::format("{}: has no choice among equals, so it cannot prefer '{}'; use herad",
                                        name, to_string(objective.among_equals)));
    const ExactChain exact = internal::exact_chain(chain, platform);
    if (!exact.runs_everywhere())
        throw ScheduleError(
            fmt::format("{}: some tasks cannot run on some of these cores, which only herad, mixed and "
                        "packed know; use one of them",
                        name));
    Ratio from = published_lower_bound(exact);
    if (objective.wanted_period_us)
        from = std::max(from, internal::ratio_of(*objective.wanted_period_us, exact.units_per_us));
    return to_schedule(chain, exact, least_period(exact, from, build), name);
}

}  // namespace

Schedule otac(const Chain& chain, const Platform& platform, std::string_view kind,
              const Objective& objective) {
    const int cores = usable(platform, objective).count(kind);
    if (cores == 0)
        throw ScheduleError(
            fmt::format("otac: the platform has no '{}' cores; choose a kind that it has", kind));
    Platform own;
    own.set(kind, cores);
    return solve(chain, own, objective, fmt::format("otac-{}", kind), internal::last_kind_first);
}

Schedule fertac(const Chain& chain, const Platform& platform, const Objective& objective) {
    return solve(chain, usable(platform, objective), objective, "fertac", internal::last_kind_first);
}

Schedule two_catac(const Chain& chain, const Platform& platform, const Objective& objective) {
    Effort effort("2catac");
    return solve(chain, usable(platform, objective), objective, "2catac",
                 [&](const ExactChain& exact, const Ratio& period) {
                     return TwoChoices(exact, period, effort).solve();
                 });
}

}  // namespace tidemill
