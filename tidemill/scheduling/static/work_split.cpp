#include "tidemill/scheduling/static/work_split.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "tidemill/scheduling/static/bounds/load_mix.hpp"

namespace tidemill {
namespace {

// Far more than any of a hundred thousand random cases needed. Whatever has been proved by then is still a
// lower bound.
constexpr int kMostLoads = 10'000;
constexpr int kMostSteps = 200;

/// How a task's frames go: all by `fast`, or a part of them by `slow`; what that costs, and how the cost
/// changes with the period.
struct Split {
    std::size_t fast = 0;
    std::size_t slow = 0;
    double slow_part = 0;
    double cost = std::numeric_limits<double>::infinity();
    double slope = 0;

    // The one that falls fastest of equal costs: it alone shows what a longer period would save.
    bool beats(const Split& other) const {
        return std::pair(cost, slope) < std::pair(other.cost, other.slope);
    }
};

/// All tasks where they are cheapest, and a line that the least cost does not cross at any other period.
struct Load {
    std::vector<double> heights;  // [pool]: time busy, per unit
    double cost = 0;
    double slope = 0;
    double steepest = 0;
    std::optional<std::size_t> sequential{};

    // Where the line says that the period is enough.
    double enough_at(double period) const { return period + (cost - period) / (1 - slope); }
};

/// Demand of the pools for one period.
struct Need {
    double height = 0;
    Load proof;
    std::vector<double> prices;  // [pool]: by which the proof's cost was found
};

class Solver {
  public:
    Solver(const SplitWork& work, double tolerance)
        : work_(work), tolerance_(tolerance), way_prices_(work.ways.size()) {}

    LeastPeriod solve() {
        LeastPeriod found = heaviest_task();
        std::vector<double> prices(work_.pool_units.size(),
                                   1.0 / static_cast<double>(work_.pool_units.size()));
        for (int step = 0; step < kMostSteps; ++step) {
            const Need need = need_at(found.period, prices);
            prices = need.prices;
            if (need.height <= found.period || need.proof.cost <= found.period * (1 + tolerance_)) break;
            found.period = need.proof.enough_at(found.period);
            found.sequential = need.proof.sequential;
        }
        found.prices = prices;
        for (std::size_t pool = 0; pool < prices.size(); ++pool) found.prices[pool] /= work_.pool_units[pool];
        return found;
    }

  private:
    std::size_t size() const { return work_.sequential.size(); }

    LeastPeriod heaviest_task() const {
        LeastPeriod heaviest;
        for (std::size_t task = 0; task < size(); ++task) {
            if (!work_.sequential[task]) continue;
            double least = work_.weight(task, 0);
            for (std::size_t way = 1; way < work_.ways.size(); ++way)
                least = std::min(least, work_.weight(task, way));
            if (least <= heaviest.period) continue;
            heaviest.period = least;
            heaviest.sequential = task;
        }
        return heaviest;
    }

    Need need_at(double period, const std::vector<double>& first_prices) {
        Need best{0, cheapest(period, first_prices), first_prices};
        internal::LoadMix mix(best.proof.heights);
        for (int i = 0; i < kMostLoads; ++i) {
            Load load = cheapest(period, mix.prices());
            const bool done = load.cost >= mix.height() * (1 - tolerance_);
            if (!done) mix.add(load.heights);
            if (load.cost >= best.proof.cost) {
                best.proof = std::move(load);
                best.prices = mix.prices();
            }
            if (done) break;
        }
        best.height = mix.height();
        return best;
    }

    Load cheapest(double period, const std::vector<double>& prices) {
        for (std::size_t way = 0; way < way_prices_.size(); ++way) {
            const auto [pool, share] = work_.ways[way];
            way_prices_[way] = prices[pool] * share / work_.pool_units[pool];
        }
        Load load{std::vector<double>(work_.pool_units.size(), 0.0)};
        for (std::size_t task = 0; task < size(); ++task)
            add(load, task, work_.sequential[task] ? within(period, task) : free(task));
        return load;
    }

    double cost(std::size_t task, std::size_t way) const {
        return way_prices_[way] * work_.weight(task, way);
    }

    Split free(std::size_t task) const {
        Split best;
        for (std::size_t way = 0; way < work_.ways.size(); ++way)
            if (const double all = cost(task, way); all < best.cost) best = {way, way, 0, all};
        return best;
    }

    // One way that is fast enough, or two that are so together.
    Split within(double period, std::size_t task) const {
        const Split wished = free(task);
        if (work_.weight(task, wished.fast) <= period) return wished;
        Split best;
        for (std::size_t fast = 0; fast < work_.ways.size(); ++fast) {
            if (work_.weight(task, fast) > period) continue;
            if (const Split all{fast, fast, 0, cost(task, fast)}; all.beats(best)) best = all;
            for (std::size_t slow = 0; slow < work_.ways.size(); ++slow)
                if (work_.weight(task, slow) > period && std::isfinite(work_.weight(task, slow)))
                    if (const Split both = mixed(period, task, fast, slow); both.beats(best)) best = both;
        }
        return best;
    }

    Split mixed(double period, std::size_t task, std::size_t fast, std::size_t slow) const {
        const double longer = work_.weight(task, slow) - work_.weight(task, fast);
        const double slope = (cost(task, slow) - cost(task, fast)) / longer;
        const double spare = period - work_.weight(task, fast);
        return {fast, slow, spare / longer, cost(task, fast) + spare * slope, slope};
    }

    void add(Load& load, std::size_t task, const Split& split) const {
        const auto busy = [&](std::size_t way, double part) {
            const auto [pool, share] = work_.ways[way];
            load.heights[pool] += part * share * work_.weight(task, way) / work_.pool_units[pool];
        };
        busy(split.fast, 1 - split.slow_part);
        busy(split.slow, split.slow_part);
        load.cost += split.cost;
        load.slope += split.slope;
        if (split.slope >= load.steepest) return;
        load.steepest = split.slope;
        load.sequential = task;
    }

    const SplitWork& work_;
    double tolerance_;
    std::vector<double> way_prices_;  // of a unit of time
};

}  // namespace

LeastPeriod least_period(const SplitWork& work, double tolerance) {
    return Solver(work, tolerance).solve();
}

}  // namespace tidemill
