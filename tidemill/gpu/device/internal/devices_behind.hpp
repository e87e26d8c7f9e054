#pragma once

#include <string>
#include <string_view>

#include <fmt/format.h>

#include "tidemill/gpu/device/device_error.hpp"
#include "tidemill/gpu/device/device_list.hpp"
#include "tidemill/gpu/device/internal/shared_library.hpp"

namespace tidemill::device {

/// "0000:3b:00.0", as the system writes it.
inline std::string pci_place(unsigned domain, unsigned bus, unsigned device, unsigned function) {
    return fmt::format("{:04x}:{:02x}:{:02x}.{}", domain, bus, device, function);
}

/// Devices that `add(library, all)` finds behind a driver's library; where that cannot be opened, or its
/// driver fails, the reason why there is nothing. `absent` says what is not there: "cuda: no driver".
FoundDevices devices_behind(const std::string& library, std::string_view absent, auto add) {
    FoundDevices all;
    std::string why;
    const auto opened = SharedLibrary::open(library, why);
    if (!opened) {
        all.absent.push_back(fmt::format("{} ({})", absent, why));
        return all;
    }
    try {
        add(*opened, all);
    } catch (const DeviceError& error) {
        all.absent.emplace_back(error.what());
    }
    return all;
}

}  // namespace tidemill::device
