#pragma once

#include "tidemill/gpu/device/device_list.hpp"

namespace tidemill::device {

/// The devices that NVIDIA's driver offers, found in a library of that name at run time.
FoundDevices find_cuda_devices(const std::string& library = "libcuda.so.1");

}  // namespace tidemill::device
