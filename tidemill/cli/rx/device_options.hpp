#pragma once

#include <memory>
#include <string>

#include "tidemill/cli/command_line.hpp"
#include "tidemill/dvbs2/device/device_ldpc_codes.hpp"

namespace tidemill::cli {

/// Which device does a part of the work, if any.
struct DeviceOptions {
    std::string device;    ///< empty: none
    std::string memory{};  ///< empty: what is fastest here
    bool falls_back = false;
};

void add_device_options(Verb& verb, DeviceOptions& options);

/// Opens the device that is wanted, null: none; throws DeviceError saying what there is instead.
std::shared_ptr<const dvbs2::LdpcOnDevice> ldpc_device(const DeviceOptions& options);

}  // namespace tidemill::cli
