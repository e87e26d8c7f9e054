#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "tidemill/machine/energy_meter.hpp"

namespace tidemill::internal {

/// Unit of a sensor's numbers: an energy that adds up, or the power of the moment.
enum class Measures { kJoules, kWatts };

/// One thing that can be read again and again.
struct EnergySensor {
    std::string name;
    Measures measures;
    std::function<double()> read;  ///< joules or watts; throws PlatformError when there is no answer
    double wraps_at_joules = 0;    ///< where a counter starts over; 0: it does not
    bool in_total = true;
};

// Each throws PlatformError, saying why, when there is no such sensor or it may not be read.
std::vector<EnergySensor> powercap_sensors(const std::string& sys_root);
std::vector<EnergySensor> hwmon_sensors(const std::string& sys_root, std::string_view wanted);
std::vector<EnergySensor> nvml_sensors(const std::string& library);
std::vector<EnergySensor> file_sensors(const std::string& path);
std::vector<EnergySensor> command_sensors(const std::string& command);

bool exists(const std::string& path);

/// The first line of a file; throws PlatformError with the system's reason.
std::string read_line(const std::string& path);

/// The number that a file consists of.
double read_number(const std::string& path);

/// A whole text as a number; throws PlatformError naming `where`.
double parse_number(std::string_view text, const std::string& where);

/// The entries of a folder whose names start with `prefix`, as paths in order; none if there is no folder.
std::vector<std::string> entries(const std::string& folder, std::string_view prefix);

/// A value with its unit, in joules or watts.
struct UnitReading {
    double value;
    Measures measures;
};

/// Reads "12.5 W" or "3.4 kJ"; throws PlatformError naming `where`.
UnitReading parse_reading(std::string_view text, const std::string& where);

}  // namespace tidemill::internal
