#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tidemill/lab/sim/os/cfs.hpp"
#include "tidemill/lab/sim/os/fair.hpp"
#include "tidemill/lab/sim/os/hmp.hpp"
#include "tidemill/lab/sim/os/scheduler.hpp"
#include "tidemill/lab/sim/sim_error.hpp"

namespace tidemill::os {

namespace {

template <typename Made>
std::unique_ptr<Scheduler> make() {
    return std::make_unique<Made>();
}

std::unique_ptr<Scheduler> make_low_hmp() {
    return std::make_unique<Hmp>(HmpThresholds{.up = 512, .down = 256});
}

// To add a scheduler, add its line here.
constexpr std::array kSchedulers{
    SchedulerName{"cfs", "the fair scheduler that knows of no kinds (Linux 3.4 to 3.13)", make<Cfs>},
    SchedulerName{"unbalanced", "the same, but no program is moved once it runs", make<Unbalanced>},
    SchedulerName{"hmp", "Linaro's scheduler for big.LITTLE, thresholds 700 and 512", make<Hmp>},
    SchedulerName{"hmp-low", "the same with thresholds 512 and 256", make_low_hmp},
    SchedulerName{"capacity-aware", "the fair scheduler of today's Linux on unequal capacities",
                  make<CapacityAware>},
    SchedulerName{"itmt", "the fair scheduler of today's Linux on hybrids with SMT: big cores first",
                  make<Itmt>},
};

}  // namespace

std::span<const SchedulerName> schedulers() {
    return kSchedulers;
}

std::unique_ptr<Scheduler> make_scheduler(std::string_view name) {
    const auto* found = std::ranges::find(kSchedulers, name, &SchedulerName::name);
    if (found != kSchedulers.end()) return found->make();
    std::vector<std::string_view> names;
    for (const SchedulerName& each : kSchedulers) names.push_back(each.name);
    throw SimError(
        fmt::format("there is no simulated scheduler '{}': take one of {}", name, fmt::join(names, ", ")));
}

}  // namespace tidemill::os
