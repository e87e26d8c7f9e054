#include "tidemill/device/device_list.hpp"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tidemill/device/cuda_devices.hpp"
#include "tidemill/device/device_error.hpp"
#include "tidemill/device/opencl_devices.hpp"

namespace tidemill {
namespace {

void append(FoundDevices& all, FoundDevices found) {
    std::ranges::move(found.devices, std::back_inserter(all.devices));
    std::ranges::move(found.absent, std::back_inserter(all.absent));
}

std::string line_of(const DeviceInfo& info) {
    return fmt::format("{:<9} {} ({}), {} compute units, {:.1f} GiB{}, {} KiB local; {}\n{:<9} memory: {}\n",
                       info.id, info.name, info.kind, info.compute_units,
                       static_cast<double>(info.memory_bytes) / (1U << 30U),
                       info.shares_memory ? " shared with the host" : "", info.local_bytes / 1024,
                       info.driver, "", names(info.policies));
}

}  // namespace

FoundDevices find_devices() {
    FoundDevices all;
    append(all, device::find_cuda_devices());
    append(all, device::find_opencl_devices());
    return all;
}

std::unique_ptr<Device> open_device(const std::string& id) {
    const FoundDevices found = find_devices();
    std::vector<std::string> there;
    for (const FoundDevice& device : found.devices) {
        if (device.info.id == id) return device.open();
        there.push_back(device.info.id);
    }
    if (there.empty()) {
        throw DeviceError(
            fmt::format("device '{}': there is none here. {}", id, fmt::join(found.absent, ". ")));
    }
    throw DeviceError(
        fmt::format("device '{}': there is no such one here, but {}", id, fmt::join(there, ", ")));
}

std::string known_as(const DeviceInfo& info) {
    return fmt::format("{} {} ({})", info.id, info.name, info.driver);
}

std::string describe(const FoundDevices& found) {
    std::string text;
    for (const FoundDevice& device : found.devices) text += line_of(device.info);
    for (const std::string& why : found.absent) text += fmt::format("{:<9} {}\n", "none", why);
    return text;
}

}  // namespace tidemill
