#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tidemill/cli/command_line.hpp"
#include "tidemill/dvbs2/device/device_ldpc_codes.hpp"
#include "tidemill/schedule/cost_model.hpp"

namespace tidemill::cli {

/// Which device does a part of the work, if any.
struct DeviceOptions {
    std::string device;    ///< empty: none
    std::string memory{};  ///< empty: what calibrate found to be fastest, or what is so here and now
    bool falls_back = false;
};

void add_device_options(Verb& verb, DeviceOptions& options);

/// Opens the device that is wanted, null: none; throws DeviceError saying what there is instead. `known` are
/// the policies that a model file remembers.
std::shared_ptr<const dvbs2::LdpcOnDevice> ldpc_device(const DeviceOptions& options,
                                                       std::span<const FastestMemory> known);

/// The fastest policy of a device for each size, measured: what a model file remembers of it. Throws
/// DeviceError.
std::vector<FastestMemory> fastest_memory(Device& device);

}  // namespace tidemill::cli
