#include <algorithm>
#include <cmath>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tidemill/lab/sim/testing/period_over_bound.hpp"
#include "tidemill/scheduling/dynamic/policy.hpp"

namespace tidemill {

using internal::Cores;
using internal::PeriodOverBound;

namespace {

constexpr int kMixes = 20;

/// Ratios of the periods of all mixes over their bounds.
struct Distances {
    double mean = 0;  ///< geometric
    double worst = 0;
};

Distances distances(const std::string& policy, Cores cores, Placing placing) {
    Distances all;
    double logs = 0;
    for (int mix = 0; mix < kMixes; ++mix) {
        const Chain chain = internal::random_mix(static_cast<std::uint64_t>(mix) + 1, 8);
        const double over = PeriodOverBound(chain, cores, true)(policy, placing);
        all.worst = std::max(all.worst, over);
        logs += std::log(over);
    }
    all.mean = std::exp(logs / kMixes);
    return all;
}

}  // namespace

TEST_CASE("placing: twenty mixes of eight kernels come within 3 % of the bound under every policy") {
    for (const policy::PolicyName& each : policy::policies()) {
        const std::string policy(each.name);
        for (const Cores cores : {Cores{1, 1}, Cores{1, 3}, Cores{3, 1}}) {
            const Distances placed = distances(policy, cores, Placing::learned);
            const Distances anyhow = distances(policy, cores, Placing::none);
            fmt::print("placing: {} on {}+{}: {:.2f} % above the bound, worst {:.2f}; without {:.2f}\n",
                       policy, cores.big, cores.little, 100 * (placed.mean - 1), 100 * (placed.worst - 1),
                       100 * (anyhow.mean - 1));
            CAPTURE(policy);
            CAPTURE(cores.big);
            CHECK(placed.mean < 1.03);
            CHECK(placed.worst < 1.05);
            CHECK(placed.mean < anyhow.mean);
        }
    }
}

}  // namespace tidemill
