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

// Quartile of the runs, as other programs of the host only ever add; nothing where the device refuses, and
// why.
std::optional<double> there_and_back_us(Device& device, MemoryPolicy policy, std::size_t bytes,
                                        std::string& why) {
    constexpr int kRuns = 9;
    try {
        const IncrementCost cost = increment_cost(device, policy, bytes, kRuns);
        std::vector<double> both_us;
        for (std::size_t run = 0; run < cost.first_us.size(); ++run)
            both_us.push_back(cost.first_us[run] + cost.back_us[run]);
        return quantile(both_us, 0.25);
    } catch (const DeviceError& error) {
        why = fmt::format("; {}: {}", name(policy), error.what());
        return {};
    }
}

}  // namespace

// The first of those that are as fast is taken, so that chance does not choose.
MemoryPolicy fastest_policy(Device& device, std::size_t bytes) {
    constexpr double kClearly = 0.9;
    std::optional<MemoryPolicy> best;
    double least_us = 0;
    std::string why;
    for (const MemoryPolicy policy : device.info().policies) {
        if (policy == MemoryPolicy::resident) continue;
        const std::optional<double> us = there_and_back_us(device, policy, bytes, why);
        if (!us || (best && *us >= kClearly * least_us)) continue;
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
