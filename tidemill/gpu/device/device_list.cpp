#include "tidemill/gpu/device/device_list.hpp"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tidemill/gpu/device/cuda_devices.hpp"
#include "tidemill/gpu/device/device_error.hpp"
#include "tidemill/gpu/device/internal/closed_nodes.hpp"
#include "tidemill/gpu/device/opencl_devices.hpp"

namespace tidemill {
namespace {

void append(FoundDevices& all, FoundDevices found) {
    std::ranges::move(found.devices, std::back_inserter(all.devices));
    std::ranges::move(found.absent, std::back_inserter(all.absent));
}

bool may_be_same(const FoundDevice& a, const FoundDevice& b) {
    if (a.platform == b.platform || a.info.kind != b.info.kind) return false;
    if (!a.info.pci.empty() && !b.info.pci.empty()) return a.info.pci == b.info.pci;
    return a.info.name == b.info.name && a.info.memory_bytes == b.info.memory_bytes &&
           a.info.compute_units == b.info.compute_units;
}

// The other ways to a device that is described.
std::string also(const FoundDevices& found, const std::string& id) {
    std::string text;
    for (const auto& [info, open, platform] : found.devices)
        if (info.same_as == id)
            text += fmt::format("{:<9} also {}: {}; memory: {}\n", "", info.id, info.driver,
                                names(info.policies));
    return text;
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
    tell_same(all.devices);
    append(all, {{}, device::closed_nodes()});
    return all;
}

void tell_same(std::vector<FoundDevice>& devices) {
    for (auto later = devices.begin(); later != devices.end(); ++later) {
        const auto is_taken = [&](const FoundDevice& earlier) {
            return std::any_of(devices.begin(), later, [&](const FoundDevice& other) {
                return other.platform == later->platform && other.info.same_as == earlier.info.id;
            });
        };
        const auto same = std::find_if(devices.begin(), later, [&](const FoundDevice& earlier) {
            return earlier.info.same_as.empty() && may_be_same(earlier, *later) && !is_taken(earlier);
        });
        if (same != later) later->info.same_as = same->info.id;
    }
}

FoundDevice find_device(const std::string& id) {
    const FoundDevices found = find_devices();
    std::vector<std::string> there;
    for (const FoundDevice& device : found.devices) {
        if (device.info.id == id) return device;
        there.push_back(device.info.id);
    }
    if (there.empty()) {
        throw NoSuchDevice(
            fmt::format("device '{}': there is none here. {}", id, fmt::join(found.absent, ". ")));
    }
    for (const std::string& why : found.absent)
        if (why.starts_with(id + ":")) throw NoSuchDevice("device " + why);
    throw NoSuchDevice(
        fmt::format("device '{}': there is no such one here, but {}", id, fmt::join(there, ", ")));
}

std::unique_ptr<Device> open_device(const std::string& id) {
    return find_device(id).open();
}

std::string known_as(const DeviceInfo& info) {
    return fmt::format("{} {} ({})", info.id, info.name, info.driver);
}

std::string describe(const FoundDevices& found) {
    std::string text;
    for (const FoundDevice& device : found.devices)
        if (device.info.same_as.empty()) text += line_of(device.info) + also(found, device.info.id);
    for (const std::string& why : found.absent) text += fmt::format("{:<9} {}\n", "none", why);
    return text;
}

}  // namespace tidemill
