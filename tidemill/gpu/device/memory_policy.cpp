#include "tidemill/gpu/device/memory_policy.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tidemill/gpu/device/device_error.hpp"

namespace tidemill {
namespace {

constexpr std::array kPolicies{MemoryPolicy::copy,    MemoryPolicy::pinned,     MemoryPolicy::mapped,
                               MemoryPolicy::managed, MemoryPolicy::prefetched, MemoryPolicy::system,
                               MemoryPolicy::resident};
constexpr std::array<std::string_view, kPolicies.size()> kNames{"copy",       "pinned", "mapped",  "managed",
                                                                "prefetched", "system", "resident"};

}  // namespace

std::span<const MemoryPolicy> memory_policies() {
    return kPolicies;
}

std::string_view name(MemoryPolicy policy) {
    return kNames[static_cast<std::size_t>(policy)];
}

std::string names(std::span<const MemoryPolicy> policies) {
    std::vector<std::string_view> all;
    for (const MemoryPolicy policy : policies) all.push_back(name(policy));
    return fmt::format("{}", fmt::join(all, ", "));
}

MemoryPolicy memory_policy(std::string_view text, std::span<const MemoryPolicy> choices) {
    for (const MemoryPolicy policy : choices) {
        if (name(policy) == text) return policy;
    }
    throw DeviceError(fmt::format("memory policy '{}': choose one of {}", text, names(choices)));
}

}  // namespace tidemill
