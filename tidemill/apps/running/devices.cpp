#include "tidemill/apps/running/devices.hpp"

#include <fmt/format.h>

#include "tidemill/base/cli_error.hpp"

namespace tidemill::cli {

namespace {

constexpr const char* kNone = "this program was built without devices";

std::shared_ptr<const DecodingDevice> open_none(const DeviceOptions& options,
                                                std::span<const FastestMemory>) {
    if (options.device.empty()) return {};
    throw WrongUsage(fmt::format("--device {}: {}", options.device, kNone));
}

ListedDevices list_none() {
    return {.text = fmt::format("none      {}\n", kNone), .absent = {kNone}};
}

}  // namespace

void add_device_options(Verb& verb, DeviceOptions& options) {
    verb.option(
        "--device", options.device,
        "Decode LDPC frames on this device, as tidemill topo names it, where the forecast says that it "
        "makes the reception faster; with --schedule always");
    verb.option("--memory", options.memory,
                "How frames come to the device and back: a policy that it has; without, the one that is "
                "fastest: as --model remembers it, or measured now")
        .needs("--device");
    verb.flag("--device-fallback", options.falls_back, "Go on with the host where the device fails")
        .needs("--device");
}

Devices& devices() {
    static Devices services{open_none, [](Calibration&) {}, list_none};
    return services;
}

}  // namespace tidemill::cli
