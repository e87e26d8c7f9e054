#pragma once

#include "tidemill/gpu/device/device_list.hpp"

namespace tidemill::device {

/// The devices of all OpenCL platforms, found in a loader of that name at run time.
FoundDevices find_opencl_devices(const std::string& library = "libOpenCL.so.1");

}  // namespace tidemill::device
