#include "tidemill/schedule/internal/work_bound.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace tidemill::internal {
namespace {

constexpr double kPriceRangeLog2 = 12;  // kinds up to 4096 times faster than another are priced well
constexpr int kHalvings = 12;
constexpr int kPriceBits = 16;
constexpr int kWorkBits = 61;  // what all work costs, and the prices of all cores, stay below that

Ratio heaviest_task(const ExactChain& chain) {
    Ratio heaviest;
    for (std::size_t i = 0; i < chain.size; ++i) {
        Ratio least{std::numeric_limits<std::uint64_t>::max(), 1};
        for (std::size_t kind = 0; kind < chain.kinds.size(); ++kind) {
            const auto cores = static_cast<std::uint64_t>(chain.kinds[kind].cores);
            least = std::min(least, Ratio{chain.sum(kind, i, i + 1), chain.replicable(i, i + 1) ? cores : 1});
        }
        heaviest = std::max(heaviest, least);
    }
    return heaviest;
}

/// Seeks the prices of a unit of each pool that make the bound largest, in floating point.
class PriceSearch {
  public:
    explicit PriceSearch(const ExactChain& chain) : chain_(chain), weights_(chain.kinds.size()) {
        for (std::size_t kind = 0; kind < chain.kinds.size(); ++kind)
            for (std::size_t i = 0; i < chain.size; ++i)
                weights_[kind].push_back(static_cast<double>(chain.sum(kind, i, i + 1)) *
                                         static_cast<double>(chain.kinds[kind].share));
    }

    // Relative to the dearest pool's 1.
    std::vector<double> best() const {
        std::vector<double> prices(chain_.pools.size(), 1.0);
        for (std::size_t pool = 1; pool < prices.size(); ++pool) improve(prices, pool);
        const double dearest = *std::ranges::max_element(prices);
        for (double& price : prices) price /= dearest;
        return prices;
    }

  private:
    // How the bound changes with one pool's price: its work weighed against its share of the capacity.
    bool rises_with(const std::vector<double>& prices, std::size_t wanted) const {
        double work = 0;
        double wanted_work = 0;
        for (std::size_t i = 0; i < chain_.size; ++i) {
            double others = std::numeric_limits<double>::infinity();
            double own = std::numeric_limits<double>::infinity();
            for (std::size_t kind = 0; kind < weights_.size(); ++kind) {
                const std::size_t pool = chain_.kinds[kind].pool;
                double& least = pool == wanted ? own : others;
                least = std::min(least, prices[pool] * weights_[kind][i]);
            }
            work += std::min(others, own);
            wanted_work += own < others ? own : 0.0;
        }
        double capacity = 0;
        for (std::size_t pool = 0; pool < prices.size(); ++pool)
            capacity += prices[pool] * static_cast<double>(chain_.pools[pool].units);
        return wanted_work * capacity >
               work * prices[wanted] * static_cast<double>(chain_.pools[wanted].units);
    }

    // Along the logarithm of one pool's price the bound has a single peak.
    void improve(std::vector<double>& prices, std::size_t pool) const {
        double low = -kPriceRangeLog2;
        double high = kPriceRangeLog2;
        for (int i = 0; i < kHalvings; ++i) {
            const double middle = (low + high) / 2;
            prices[pool] = std::exp2(middle);
            (rises_with(prices, pool) ? low : high) = middle;
        }
    }

    const ExactChain& chain_;
    std::vector<std::vector<double>> weights_;
};

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
    const std::vector<double> prices = PriceSearch(chain).best();
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
            least = std::min(least, prices_[kind] * chain.sum(kind, i, i + 1));
        work_[i + 1] = work_[i] + least;
    }
    period_ = std::max(heaviest_task(chain), Ratio{work_.back(), capacity_});
}

}  // namespace tidemill::internal
