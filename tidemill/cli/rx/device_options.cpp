#include "tidemill/cli/rx/device_options.hpp"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "tidemill/cli/cli_error.hpp"
#include "tidemill/device/device_error.hpp"
#include "tidemill/device/device_list.hpp"
#include "tidemill/device/fastest_policy.hpp"

namespace tidemill::cli {

namespace {

MemoryPolicy wanted_memory(const std::string& name, const std::vector<MemoryPolicy>& policies) {
    if (name == tidemill::name(MemoryPolicy::resident)) {
        throw WrongUsage(
            fmt::format("--memory: resident is what one task leaves on a device for the next one "
                        "there, and LDPC frames have no such neighbour; choose one of {}",
                        names(policies)));
    }
    try {
        return memory_policy(name, policies);
    } catch (const DeviceError& error) {
        throw WrongUsage(fmt::format("--memory: {}", error.what()));
    }
}

// Nothing where the device, its driver or the policy is another one by now.
std::optional<MemoryPolicy> remembered(const DeviceInfo& info, std::size_t bytes,
                                       std::span<const FastestMemory> known) {
    const std::string device = known_as(info);
    for (const FastestMemory& each : known) {
        if (each.device != device || each.bytes != size_class(bytes)) continue;
        const auto found = std::ranges::find(info.policies, each.policy,
                                             [](MemoryPolicy policy) { return std::string(name(policy)); });
        if (found != info.policies.end()) return *found;
    }
    return {};
}

// A device that refuses to be measured fails at its first batch: where the host goes on then, it says so
// there.
MemoryPolicy fastest_here(Device& device, std::size_t bytes, bool falls_back) {
    try {
        return fastest_policy(device, size_class(bytes));
    } catch (const DeviceError&) {
        if (!falls_back) throw;
        return MemoryPolicy::copy;
    }
}

}  // namespace

void add_device_options(Verb& verb, DeviceOptions& options) {
    verb.option(
        "--device", options.device,
        "Decode LDPC frames on this device, as tidemill topo names it, where the forecast says that it "
        "makes the reception faster; with --schedule always");
    verb.option("--memory", options.memory,
                "How frames come to the device and back: a policy that it has; without, the one that is "
                "fastest: as --model remembers it, or measured now")
        .needs("--device");
    verb.flag("--device-fallback", options.falls_back, "Go on with the host where the device fails")
        .needs("--device");
}

std::shared_ptr<const dvbs2::LdpcOnDevice> ldpc_device(const DeviceOptions& options,
                                                       std::span<const FastestMemory> known) {
    if (options.device.empty()) return {};
    dvbs2::LdpcOnDevice where{.device = open_device(options.device)};
    std::vector<MemoryPolicy> policies = where.device->info().policies;
    std::erase(policies, MemoryPolicy::resident);               // the host writes and reads these frames
    constexpr std::size_t kSomeFrames = std::size_t{1} << 20U;  // sixteen normal ones
    if (!options.memory.empty()) {
        where.memory = wanted_memory(options.memory, policies);
    } else if (const auto policy = remembered(where.device->info(), kSomeFrames, known)) {
        where.memory = *policy;
    } else {
        where.memory = fastest_here(*where.device, kSomeFrames, options.falls_back);
    }
    where.falls_back = options.falls_back;
    if (where.memory == MemoryPolicy::pinned) where.tokens = std::make_shared<DeviceTokens>(where.device);
    return std::make_shared<const dvbs2::LdpcOnDevice>(where);
}

std::vector<FastestMemory> fastest_memory(Device& device) {
    std::vector<FastestMemory> found;
    for (const std::size_t bytes : size_classes())
        found.push_back({known_as(device.info()), bytes, std::string(name(fastest_policy(device, bytes)))});
    return found;
}

}  // namespace tidemill::cli
