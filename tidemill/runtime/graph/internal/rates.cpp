#include "tidemill/runtime/graph/internal/rates.hpp"

#include <cassert>
#include <limits>
#include <numeric>

#include <fmt/format.h>

namespace tidemill::internal {

namespace {

constexpr std::uint64_t kMost = std::numeric_limits<std::uint32_t>::max();

struct Fraction {
    std::uint64_t over = 0;  // 0: not known yet
    std::uint64_t under = 1;
};

// Null when the numbers grow beyond what any frame could hold.
std::optional<Fraction> times(Fraction a, std::uint64_t over, std::uint64_t under) {
    const std::uint64_t shared = std::gcd(over, under);
    over /= shared;
    under /= shared;
    const std::uint64_t left = std::gcd(a.over, under);
    const std::uint64_t right = std::gcd(over, a.under);
    const std::uint64_t top = over / right;
    const std::uint64_t bottom = under / left;
    assert(top > 0 && bottom > 0);  // sockets have at least one element
    if (a.over / left > kMost / top || a.under / right > kMost / bottom) return {};
    return Fraction{a.over / left * top, a.under / right * bottom};
}

class Balance {
  public:
    Balance(std::uint32_t tasks, const std::vector<RateLink>& links) : links_of_(tasks), rates_(tasks) {
        result_.firings.resize(tasks, 1);
        for (const RateLink& link : links) {
            links_of_[link.from].push_back(&link);
            links_of_[link.to].push_back(&link);
        }
    }

    Repetitions solve() {
        for (std::uint32_t task = 0; task < rates_.size() && !result_.fault; ++task) {
            if (rates_[task].over == 0) solve_from(task);
        }
        return std::move(result_);
    }

  private:
    // Everything that hangs together with `start`, in rates relative to its.
    void solve_from(std::uint32_t start) {
        std::vector<std::uint32_t> reached{start};
        rates_[start] = {1, 1};
        for (std::size_t next = 0; next < reached.size(); ++next) {
            for (const RateLink* link : links_of_[reached[next]]) {
                if (!follow(*link, reached[next], reached)) return;
            }
        }
        scale(reached);
    }

    bool follow(const RateLink& link, std::uint32_t at, std::vector<std::uint32_t>& reached) {
        const bool down = at == link.from;
        const auto rate =
            down ? times(rates_[at], link.given, link.taken) : times(rates_[at], link.taken, link.given);
        if (!rate) return fail(link, "would take more firings per frame than can be counted");
        Fraction& other = rates_[down ? link.to : link.from];
        if (other.over == 0) {
            other = *rate;
            reached.push_back(down ? link.to : link.from);
            return true;
        }
        if (other.over == rate->over && other.under == rate->under) return true;
        return fail(link, "does not come out even with the other streams between these tasks");
    }

    bool fail(const RateLink& link, const char* why) {
        result_.fault = fmt::format("{} {}; change the counts", link.text, why);
        return false;
    }

    void scale(const std::vector<std::uint32_t>& tasks) {
        std::uint64_t factor = 1;
        for (const std::uint32_t task : tasks) {
            factor = std::lcm(factor, rates_[task].under);
            if (factor > kMost) {
                result_.fault =
                    "the streams' counts share too few factors: a frame would hold more than 2^32 "
                    "firings of a task; change the counts";
                return;
            }
        }
        std::uint64_t common = 0;
        for (const std::uint32_t task : tasks) {
            result_.firings[task] = factor / rates_[task].under * rates_[task].over;
            common = std::gcd(common, result_.firings[task]);
        }
        assert(common > 0);  // every task fires
        for (const std::uint32_t task : tasks) result_.firings[task] /= common;
    }

    std::vector<std::vector<const RateLink*>> links_of_;
    std::vector<Fraction> rates_;
    Repetitions result_;
};

}  // namespace

Repetitions repetitions_of(std::uint32_t tasks, const std::vector<RateLink>& links) {
    return Balance(tasks, links).solve();
}

}  // namespace tidemill::internal
