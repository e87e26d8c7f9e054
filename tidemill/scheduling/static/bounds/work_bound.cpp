#include "tidemill/scheduling/static/bounds/work_bound.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "tidemill/scheduling/static/work_split.hpp"

namespace tidemill::internal {
namespace {

constexpr double kPriceTolerance = 1e-3;  // the search gains nothing from better prices
constexpr int kPriceBits = 16;
constexpr int kWorkBits = 61;  // what all work costs, and the prices of all cores, stay below that

// Kinds share the frames of a replicable task where stages may be mixed: then it is the work that counts.
Ratio heaviest_task(const ExactChain& chain) {
    Ratio heaviest;
    for (std::size_t i = 0; i < chain.size; ++i) {
        if (chain.most_letters > 0 && chain.replicable(i, i + 1)) continue;
        Ratio least{std::numeric_limits<std::uint64_t>::max(), 1};
        for (std::size_t kind = 0; kind < chain.kinds.size(); ++kind) {
            if (!chain.runs(kind, i)) continue;
            const auto cores = static_cast<std::uint64_t>(chain.kinds[kind].cores);
            least = std::min(least, Ratio{chain.sum(kind, i, i + 1), chain.replicable(i, i + 1) ? cores : 1});
        }
        heaviest = std::max(heaviest, least);
    }
    return heaviest;
}

SplitWork split_work(const ExactChain& chain) {
    SplitWork work;
    for (const auto& kind : chain.kinds) work.ways.push_back({kind.pool, static_cast<double>(kind.share)});
    for (const auto& pool : chain.pools) work.pool_units.push_back(static_cast<double>(pool.units));
    for (std::size_t i = 0; i < chain.size; ++i)
        for (std::size_t kind = 0; kind < chain.kinds.size(); ++kind)
            work.weights.push_back(chain.runs(kind, i) ? static_cast<double>(chain.sum(kind, i, i + 1))
                                                       : kCannotRun);
    return work;
}

// Prices of a unit of each pool that make the bound largest, relative to the dearest pool's 1. Sequential
// tasks are left to heaviest_task(), as their own prices are nothing that a stage could be charged.
std::vector<double> best_prices(const ExactChain& chain) {
    SplitWork work = split_work(chain);
    work.sequential.assign(chain.size, false);
    std::vector<double> prices = least_period(work, kPriceTolerance).prices;
    const double dearest = *std::ranges::max_element(prices);
    for (double& price : prices) price /= dearest;
    return prices;
}

// The largest scale of prices at which neither the work nor the capacity leaves its bits.
double price_scale(const ExactChain& chain) {
    std::uint64_t most = 1;
    for (const auto& kind : chain.kinds) most = std::max(most, kind.prefix.back() * kind.share);
    std::uint64_t units = 0;
    for (const auto& pool : chain.pools) units += pool.units;
    const int spare = kWorkBits - std::bit_width(std::max(most, units));
    return std::exp2(std::clamp(spare, 0, kPriceBits));
}

}  // namespace

WorkBound::WorkBound(const ExactChain& chain) : work_(chain.size + 1, 0) {
    const std::vector<double> prices = best_prices(chain);
    const double scale = price_scale(chain);
    const auto priced = [&](std::size_t pool) {
        return std::max<std::uint64_t>(1, static_cast<std::uint64_t>(prices[pool] * scale));
    };
    for (const auto& kind : chain.kinds) prices_.push_back(priced(kind.pool) * kind.share);
    for (std::size_t pool = 0; pool < chain.pools.size(); ++pool)
        capacity_ += priced(pool) * chain.pools[pool].units;
    for (std::size_t i = 0; i < chain.size; ++i) {
        std::uint64_t least = std::numeric_limits<std::uint64_t>::max();
        for (std::size_t kind = 0; kind < chain.kinds.size(); ++kind)
            if (chain.runs(kind, i)) least = std::min(least, prices_[kind] * chain.sum(kind, i, i + 1));
        work_[i + 1] = work_[i] + least;
    }
    period_ = std::max(heaviest_task(chain), Ratio{work_.back(), capacity_});
}

}  // namespace tidemill::internal
