#include <algorithm>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "tidemill/machine/internal/energy_sensor.hpp"
#include "tidemill/machine/platform_error.hpp"

namespace tidemill::internal {

namespace {

constexpr double kMicro = 1e-6;

std::string file_name(const std::string& path) {
    return std::filesystem::path(path).filename().string();
}

EnergySensor micro_sensor(std::string name, Measures measures, std::string path) {
    return {std::move(name), measures, [path = std::move(path)] { return kMicro * read_number(path); }};
}

EnergySensor powercap_sensor(const std::string& zone, std::string name) {
    EnergySensor sensor = micro_sensor(std::move(name), Measures::kJoules, zone + "/energy_uj");
    const std::string range = zone + "/max_energy_range_uj";
    if (exists(range)) sensor.wraps_at_joules = kMicro * read_number(range);
    return sensor;
}

// Some domains of RAPL are inside others: packages and memory make the total, the platform ("psys") only
// where there is no package.
void choose_rapl_total(std::vector<EnergySensor>& sensors) {
    const auto is_package = [](const EnergySensor& sensor) {
        return sensor.name.starts_with("package") && sensor.name.find('/') == std::string::npos;
    };
    const bool packages = std::ranges::any_of(sensors, is_package);
    for (EnergySensor& sensor : sensors) {
        const bool memory = sensor.name == "dram" || sensor.name.ends_with("/dram");
        sensor.in_total = packages ? is_package(sensor) || memory : sensor.name.starts_with("psys");
    }
}

void add_hwmon_sensors(const std::string& chip_folder, std::vector<EnergySensor>& sensors) {
    const std::string chip =
        exists(chip_folder + "/name") ? read_line(chip_folder + "/name") : file_name(chip_folder);
    const auto add = [&](const std::string& path, Measures measures) {
        const std::string channel = file_name(path).substr(0, file_name(path).find('_'));
        const std::string label_file = fmt::format("{}/{}_label", chip_folder, channel);
        const std::string label = exists(label_file) ? read_line(label_file) : channel;
        sensors.push_back(micro_sensor(chip + "/" + label, measures, path));
    };
    for (const std::string& path : entries(chip_folder, "energy")) {
        if (path.ends_with("_input")) add(path, Measures::kJoules);
    }
    for (const std::string& path : entries(chip_folder, "power")) {
        const bool average = path.ends_with("_average");
        const bool only_average = average && !exists(path.substr(0, path.rfind('_')) + "_input");
        if (path.ends_with("_input") || only_average) add(path, Measures::kWatts);
    }
}

}  // namespace

// Zones of the memory-mapped interface ("intel-rapl-mmio") show the same packages once more.
std::vector<EnergySensor> powercap_sensors(const std::string& sys_root) {
    const std::string root = sys_root + "/class/powercap";
    std::vector<EnergySensor> sensors;
    for (const std::string& zone : entries(root, "intel-rapl:")) {
        const std::string id = file_name(zone);
        const std::size_t parent_end = id.rfind(':');
        std::string name = read_line(zone + "/name");
        if (id.find(':') != parent_end) {
            name = fmt::format("{}/{}", read_line(fmt::format("{}/{}/name", root, id.substr(0, parent_end))),
                               name);
        }
        sensors.push_back(powercap_sensor(zone, std::move(name)));
    }
    if (sensors.empty()) throw PlatformError(fmt::format("no RAPL zones in {}", root));
    choose_rapl_total(sensors);
    return sensors;
}

// A board's sensors may sit behind one another, so that they are never added up.
std::vector<EnergySensor> hwmon_sensors(const std::string& sys_root, std::string_view wanted) {
    const std::string root = sys_root + "/class/hwmon";
    std::vector<EnergySensor> sensors;
    for (const std::string& chip : entries(root, "hwmon")) add_hwmon_sensors(chip, sensors);
    if (sensors.empty()) throw PlatformError(fmt::format("no power or energy sensor in {}", root));
    std::string names;
    for (EnergySensor& sensor : sensors) {
        if (sensor.name == wanted) return {std::move(sensor)};
        names += " hwmon:" + sensor.name;
    }
    if (wanted.empty() && sensors.size() == 1) return sensors;
    throw PlatformError(fmt::format(
        "{}: choose one of{}",
        wanted.empty() ? "several sensors, which may overlap" : fmt::format("there is no sensor {}", wanted),
        names));
}

}  // namespace tidemill::internal
