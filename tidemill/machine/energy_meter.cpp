#include "tidemill/machine/energy_meter.hpp"

#include <fmt/format.h>

#include "tidemill/machine/internal/sensor_meter.hpp"
#include "tidemill/machine/platform_error.hpp"

namespace tidemill {

namespace {

using internal::EnergySensor;

struct MeterKind {
    std::string_view name;
    bool automatic;       ///< tried when nothing was asked for
    bool takes_argument;  ///< "name:argument"
    std::vector<EnergySensor> (*sensors)(const EnergySystem& system, const std::string& argument);
};

constexpr MeterKind kKinds[] = {
    {"powercap", true, false,
     [](const EnergySystem& system, const std::string&) {
         return internal::powercap_sensors(system.sys_root);
     }},
    {"hwmon", true, true,
     [](const EnergySystem& system, const std::string& sensor) {
         return internal::hwmon_sensors(system.sys_root, sensor);
     }},
    {"nvml", false, false,
     [](const EnergySystem& system, const std::string&) {
         return internal::nvml_sensors(system.nvml_library);
     }},
    {"file", false, true,
     [](const EnergySystem&, const std::string& path) { return internal::file_sensors(path); }},
    {"command", false, true,
     [](const EnergySystem&, const std::string& text) { return internal::command_sensors(text); }},
};

// A meter that cannot be read now is none.
std::unique_ptr<EnergyMeter> open_meter(const MeterKind& kind, const EnergySystem& system,
                                        const std::string& argument) {
    auto meter =
        std::make_unique<internal::SensorMeter>(std::string(kind.name), kind.sensors(system, argument));
    meter->start(std::chrono::steady_clock::now());
    return meter;
}

FoundEnergyMeter first_that_answers(const EnergySystem& system) {
    std::string reasons;
    for (const MeterKind& kind : kKinds) {
        if (!kind.automatic) continue;
        try {
            return {open_meter(kind, system, ""), ""};
        } catch (const PlatformError& error) {
            reasons += fmt::format("{}{}: {}", reasons.empty() ? "" : "; ", kind.name, error.what());
        }
    }
    return {nullptr, reasons};
}

}  // namespace

std::optional<double> EnergyUse::watts() const {
    return joules_per(seconds);
}

std::optional<double> EnergyUse::joules_per(double count) const {
    if (!joules || !(count > 0)) return std::nullopt;
    return *joules / count;
}

FoundEnergyMeter find_energy_meter(std::string_view choice, const EnergySystem& system) {
    if (choice == "auto") return first_that_answers(system);
    if (choice == "none") return {nullptr, "not wanted"};
    const std::size_t colon = choice.find(':');
    const std::string argument(colon == std::string_view::npos ? "" : choice.substr(colon + 1));
    for (const MeterKind& kind : kKinds) {
        const bool fits =
            kind.takes_argument ? kind.automatic || !argument.empty() : colon == std::string_view::npos;
        if (kind.name != choice.substr(0, colon) || !fits) continue;
        try {
            return {open_meter(kind, system, argument), ""};
        } catch (const PlatformError& error) {
            throw PlatformError(fmt::format("energy meter {}: {}", kind.name, error.what()));
        }
    }
    throw PlatformError(
        fmt::format("there is no energy meter \"{}\": choose auto, none, powercap, hwmon, hwmon:CHIP/LABEL, "
                    "nvml, file:PATH or command:TEXT",
                    choice));
}

}  // namespace tidemill
