#include "tidemill/cli/rx/device_options.hpp"

#include <fmt/format.h>

#include "tidemill/cli/cli_error.hpp"
#include "tidemill/device/device_error.hpp"
#include "tidemill/device/device_list.hpp"
#include "tidemill/device/fastest_policy.hpp"

namespace tidemill::cli {

namespace {

MemoryPolicy wanted_memory(const std::string& name, const std::vector<MemoryPolicy>& policies) {
    try {
        return memory_policy(name, policies);
    } catch (const DeviceError& error) {
        throw WrongUsage(fmt::format("--memory: {}", error.what()));
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
                "fastest here")
        .needs("--device");
    verb.flag("--device-fallback", options.falls_back, "Go on with the host where the device fails")
        .needs("--device");
}

std::shared_ptr<const dvbs2::LdpcOnDevice> ldpc_device(const DeviceOptions& options) {
    if (options.device.empty()) return {};
    dvbs2::LdpcOnDevice where{.device = open_device(options.device)};
    std::vector<MemoryPolicy> policies = where.device->info().policies;
    std::erase(policies, MemoryPolicy::resident);               // the host writes and reads these frames
    constexpr std::size_t kSomeFrames = std::size_t{1} << 20U;  // sixteen normal ones
    where.memory = options.memory.empty() ? fastest_policy(*where.device, kSomeFrames)
                                          : wanted_memory(options.memory, policies);
    where.falls_back = options.falls_back;
    return std::make_shared<const dvbs2::LdpcOnDevice>(where);
}

}  // namespace tidemill::cli
