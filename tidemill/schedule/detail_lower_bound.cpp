#include "tidemill/schedule/detail_lower_bound.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tidemill::detail {
namespace {

constexpr double kPriceRangeLog2 = 12;  // kinds up to 4096 times faster than another are priced well
constexpr int kHalvings = 12;
constexpr double kIntegerPrice = 65535;

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

/// Weak duality: whatever a core of each kind is priced at, a period's worth of all cores must pay for every
/// task at its cheapest. The prices that make the bound largest are sought in floating point, then used
/// exactly.
class WorkBound {
  public:
    explicit WorkBound(const ExactChain& chain) : chain_(chain), weights_(chain.kinds.size()) {
        for (std::size_t kind = 0; kind < chain.kinds.size(); ++kind)
            for (std::size_t i = 0; i < chain.size; ++i)
                weights_[kind].push_back(static_cast<double>(chain.sum(kind, i, i + 1)));
    }

    Ratio best() const {
        std::vector<double> prices(chain_.kinds.size(), 1.0);
        for (std::size_t kind = 1; kind < prices.size(); ++kind) improve(prices, kind);
        const double scale = kIntegerPrice / *std::ranges::max_element(prices);
        for (double& price : prices) price = std::max(1.0, std::nearbyint(price * scale));
        return exact(prices);
    }

  private:
    // How the bound changes with one kind's price: its work weighed against its share of the capacity.
    bool rises_with(const std::vector<double>& prices, std::size_t wanted) const {
        double work = 0;
        double wanted_work = 0;
        for (std::size_t i = 0; i < chain_.size; ++i) {
            double others = std::numeric_limits<double>::infinity();
            for (std::size_t kind = 0; kind < prices.size(); ++kind)
                if (kind != wanted) others = std::min(others, prices[kind] * weights_[kind][i]);
            const double own = weights_[wanted][i];
            work += std::min(others, prices[wanted] * own);
            wanted_work += prices[wanted] * own < others ? own : 0.0;
        }
        double capacity = 0;
        for (std::size_t kind = 0; kind < prices.size(); ++kind)
            capacity += prices[kind] * chain_.kinds[kind].cores;
        return wanted_work * capacity > work * chain_.kinds[wanted].cores;
    }

    // Along the logarithm of one kind's price the bound has a single peak.
    void improve(std::vector<double>& prices, std::size_t kind) const {
        double low = -kPriceRangeLog2;
        double high = kPriceRangeLog2;
        for (int i = 0; i < kHalvings; ++i) {
            const double middle = (low + high) / 2;
            prices[kind] = std::exp2(middle);
            (rises_with(prices, kind) ? low : high) = middle;
        }
    }

    Ratio exact(const std::vector<double>& prices) const {
        Wide work = 0;
        for (std::size_t i = 0; i < chain_.size; ++i) {
            Wide cheapest = ~Wide{0};
            for (std::size_t kind = 0; kind < prices.size(); ++kind)
                cheapest = std::min(
                    cheapest, static_cast<std::uint64_t>(prices[kind]) * Wide{chain_.sum(kind, i, i + 1)});
            work += cheapest;
        }
        Wide capacity = 0;
        for (std::size_t kind = 0; kind < prices.size(); ++kind)
            capacity += static_cast<std::uint64_t>(prices[kind]) * Wide(chain_.kinds[kind].cores);
        // Rounded so that the bound only gets lower.
        for (; work >> 62 != 0 || capacity >> 62 != 0; work >>= 1) capacity = (capacity + 1) >> 1;
        return {static_cast<std::uint64_t>(work), static_cast<std::uint64_t>(capacity)};
    }

    const ExactChain& chain_;
    std::vector<std::vector<double>> weights_;
};

}  // namespace

Ratio lower_bound(const ExactChain& chain) {
    return std::max(heaviest_task(chain), WorkBound(chain).best());
}

}  // namespace tidemill::detail
