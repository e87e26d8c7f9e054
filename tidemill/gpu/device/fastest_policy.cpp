#include "tidemill/gpu/device/fastest_policy.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "tidemill/base/quantile.hpp"
#include "tidemill/gpu/device/device_error.hpp"
#include "tidemill/gpu/device/increment_cost.hpp"

namespace tidemill {
namespace {

// Nothing where the device refuses, and why.
std::optional<double> there_and_back_us(Device& device, MemoryPolicy policy, std::size_t bytes,
                                        std::string& why) {
    constexpr int kRuns = 5;
    try {
        const IncrementCost cost = increment_cost(device, policy, bytes, kRuns);
        return median(cost.first_us) + median(cost.back_us);
    } catch (const DeviceError& error) {
        why = fmt::format("; {}: {}", name(policy), error.what());
        return {};
    }
}

}  // namespace

MemoryPolicy fastest_policy(Device& device, std::size_t bytes) {
    std::optional<MemoryPolicy> best;
    double least_us = 0;
    std::string why;
    for (const MemoryPolicy policy : device.info().policies) {
        if (policy == MemoryPolicy::resident) continue;
        const std::optional<double> us = there_and_back_us(device, policy, bytes, why);
        if (!us || (best && *us >= least_us)) continue;
        best = policy;
        least_us = *us;
    }
    if (best) return *best;
    throw DeviceError(fmt::format("{}: {} bytes come to it under none of its policies: {}{}",
                                  device.info().id, bytes, names(device.info().policies), why));
}

std::span<const std::size_t> size_classes() {
    static constexpr std::array<std::size_t, 3> kClasses{1U << 16U, 1U << 20U, 1U << 24U};
    return kClasses;
}

std::size_t size_class(std::size_t bytes) {
    for (const std::size_t most : size_classes())
        if (bytes <= most) return most;
    return size_classes().back();
}

}  // namespace tidemill
