#pragma once

#include <memory>
#include <string>

#include <doctest/doctest.h>

#include "tidemill/gpu/device/device_error.hpp"
#include "tidemill/gpu/device/device_list.hpp"

namespace tidemill::device {

/// The devices that tests use; where there is none, the test says so. Drivers that compile kernels in this
/// process do not bear a sanitizer.
inline FoundDevices devices_for_tests() {
#ifdef TIDEMILL_SANITIZED
    FoundDevices found{{}, {"a sanitizer watches"}};
#else
    FoundDevices found = find_devices();
#endif
    if (found.devices.empty()) MESSAGE("skipped, no device: " << describe(found));
    return found;
}

/// Message of the DeviceError that a call throws; empty when it throws none.
std::string message_of(auto&& call) {
    try {
        call();
    } catch (const DeviceError& error) {
        return error.what();
    }
    return {};
}

/// Calls with every device here.
inline void on_all_devices(auto&& call) {
    for (const FoundDevice& each : devices_for_tests().devices) {
        CAPTURE(each.info.id);
        call(std::shared_ptr<Device>(each.open()));
    }
}

}  // namespace tidemill::device
