#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tidemill/base/json.hpp"
#include "tidemill/dvbs2/receiver/ldpc_offload.hpp"
#include "tidemill/options/command_line.hpp"
#include "tidemill/runtime/threads/token_memory.hpp"
#include "tidemill/scheduling/static/chain.hpp"
#include "tidemill/scheduling/static/cost_model.hpp"
#include "tidemill/tuning/profile/calibration.hpp"

namespace tidemill::cli {

struct ReceptionJob;

/// The device that does a part of the work, if any.
struct DeviceOptions {
    std::string device;    ///< empty: none
    std::string memory{};  ///< empty: what calibrate found to be fastest, or what is so here and now
    bool falls_back = false;
};

void add_device_options(Verb& verb, DeviceOptions& options);

/// A device that may decode a reception's LDPC frames.
struct DecodingDevice {
    std::string id;      ///< as tidemill topo names it
    std::string memory;  ///< the policy by which frames come there and back
    std::shared_ptr<const dvbs2::LdpcOffload> decoder;
    std::shared_ptr<TokenMemory> tokens{};  ///< where the run's tokens are to lie; null: in the program's own

    /// Why it does not reach some of these, in a sentence; empty: it does.
    std::function<std::string()> refused_tokens;
    /// Cost of the frames at a reception's beginning, in batches of several sizes, from the host's memory to
    /// the host's memory, where a block of samples has so many frames. Nothing where none was heard. Throws
    /// an Error where the device fails.
    std::function<std::optional<BatchCost>(const ReceptionJob& job, double frames_per_block)> cost;
};

/// The devices of this machine, for people and for programs.
struct ListedDevices {
    std::string text;  ///< a line each, or per way to devices why there is none
    Json found = Json::array();
    std::vector<std::string> absent{};  ///< per way that gave none: why
};

/// Services of a house with devices, for verbs that go without where there is none.
struct Devices {
    /// Opens the device that is wanted; null: none is. `known` are the policies that a model file remembers.
    /// Throws an Error that lists what there is instead.
    std::function<std::shared_ptr<const DecodingDevice>(const DeviceOptions& options,
                                                        std::span<const FastestMemory> known)>
        open;
    /// Adds the fastest policy of each device and size.
    std::function<void(Calibration& found)> calibrate;
    std::function<ListedDevices()> list;
};

/// The services that the program's main function has given; else those of a program without devices.
Devices& devices();

}  // namespace tidemill::cli
