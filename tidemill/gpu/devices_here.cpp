#include "tidemill/gpu/devices_here.hpp"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "tidemill/base/cli_error.hpp"
#include "tidemill/gpu/device/device_error.hpp"
#include "tidemill/gpu/device/device_list.hpp"
#include "tidemill/gpu/device/fastest_policy.hpp"
#include "tidemill/gpu/ldpc/device_ldpc_codes.hpp"
#include "tidemill/gpu/ldpc/ldpc_batch_cost.hpp"
#include "tidemill/options/standard_streams.hpp"

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

dvbs2::LdpcOnDevice ldpc_device(const DeviceOptions& options, std::span<const FastestMemory> known) {
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
    return where;
}

std::string refused_by(const DeviceTokens* tokens) {
    if (!tokens || tokens->refused() == 0) return {};
    return fmt::format(
        "the device does not reach {} of {} blocks of tokens, so frames are gathered before they are copied: "
        "{}",
        tokens->refused(), tokens->blocks(), tokens->refusal());
}

std::shared_ptr<const DecodingDevice> open_here(const DeviceOptions& options,
                                                std::span<const FastestMemory> known) {
    if (options.device.empty()) return {};
    const dvbs2::LdpcOnDevice where = ldpc_device(options, known);
    return std::make_shared<const DecodingDevice>(DecodingDevice{
        .id = where.device->info().id,
        .memory = std::string(name(where.memory)),
        .decoder = elsewhere(where),
        .tokens = where.tokens,
        .refused_tokens = [tokens = where.tokens] { return refused_by(tokens.get()); },
        .cost = [where](const ReceptionJob& job,
                        double frames_per_block) { return ldpc_batch_cost(job, where, frames_per_block); }});
}

// Measures the fastest policy of each device and size.
void calibrate_here(Calibration& found) {
    for (const FoundDevice& each : find_devices().devices) {
        tell("memory of {} ...\n", each.info.id);
        try {
            const std::unique_ptr<Device> device = each.open();
            for (const std::size_t bytes : size_classes())
                found.model.memory.push_back(
                    {known_as(device->info()), bytes, std::string(name(fastest_policy(*device, bytes)))});
        } catch (const DeviceError& error) {
            found.not_measured.push_back(fmt::format("memory of {}: {}", each.info.id, error.what()));
        }
    }
}

Json to_json(const FoundDevices& found) {
    Json devices = Json::array();
    for (const auto& [info, open, platform] : found.devices) {
        Json policies = Json::array();
        for (const MemoryPolicy policy : info.policies) policies.push_back(name(policy));
        Json device{{"id", info.id},
                    {"name", info.name},
                    {"kind", info.kind},
                    {"driver", info.driver},
                    {"memory_bytes", info.memory_bytes},
                    {"local_bytes", info.local_bytes},
                    {"compute_units", info.compute_units},
                    {"shares_memory", info.shares_memory},
                    {"policies", policies}};
        if (!info.pci.empty()) device["pci"] = info.pci;
        if (!info.same_as.empty()) device["same_as"] = info.same_as;
        devices.push_back(std::move(device));
    }
    return devices;
}

ListedDevices list_here() {
    const FoundDevices found = find_devices();
    return {.text = describe(found), .found = to_json(found), .absent = found.absent};
}

}  // namespace

Devices devices_here() {
    return {open_here, calibrate_here, list_here};
}

}  // namespace tidemill::cli
