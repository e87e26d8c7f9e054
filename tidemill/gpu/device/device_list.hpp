#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tidemill/gpu/device/device.hpp"

namespace tidemill {

/// A device that is there, not yet opened.
struct FoundDevice {
    DeviceInfo info;
    std::function<std::unique_ptr<Device>()> open;
    std::string platform{};  ///< that lists it: each lists a device once
};

struct FoundDevices {
    std::vector<FoundDevice> devices;
    std::vector<std::string> absent;  ///< per way to a device that gave none: why; nodes that are closed
};

/// Looks for devices through the CUDA driver and OpenCL. Never throws for what is not there. What several
/// platforms list is there by each of its ids, of which the later ones say so: DeviceInfo::same_as.
FoundDevices find_devices();

/// Says of each device which one before it is the same: the one in its place on the bus, or, where that is
/// unknown, one of its kind, name and size that another platform lists.
void tell_same(std::vector<FoundDevice>& devices);

/// The device of that id ("cuda:0", "opencl:1"); throws NoSuchDevice telling which there are, or why none.
FoundDevice find_device(const std::string& id);

/// The same, opened.
std::unique_ptr<Device> open_device(const std::string& id);

/// Name by which a device is known again: "cuda:0 NVIDIA H100 (CUDA 13.0 ...)".
std::string known_as(const DeviceInfo& info);

/// "cuda:0  NVIDIA H100 ...", a line per device, or per way why there is none.
std::string describe(const FoundDevices& found);

}  // namespace tidemill
