#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include <stdlib.h>

#include "tidemill/machine/energy_meter.hpp"
#include "tidemill/machine/internal/core_pmus.hpp"
#include "tidemill/machine/internal/energy_sensor.hpp"
#include "tidemill/machine/platform_error.hpp"
#include "tidemill/machine/topology.hpp"

namespace {

using namespace tidemill;

/// A made-up /sys whose files are the input's lines; made once, since names do not change.
class SystemRoot {
  public:
    SystemRoot() {
        std::string name = (std::filesystem::temp_directory_path() / "tidemill-fuzz-XXXXXX").string();
        if (!mkdtemp(name.data())) std::abort();
        path_ = name;
        for (const char* file : kFiles) std::filesystem::create_directories((path_ / file).parent_path());
    }
    SystemRoot(const SystemRoot&) = delete;
    SystemRoot& operator=(const SystemRoot&) = delete;
    ~SystemRoot() { std::filesystem::remove_all(path_); }

    // A file without a line of its own does not exist; an empty line makes an empty file.
    void write(std::string_view lines) const {
        for (const char* file : kFiles) {
            if (lines.empty()) {
                std::filesystem::remove(path_ / file);
                continue;
            }
            const std::size_t end = lines.find('\n');
            std::ofstream(path_ / file) << lines.substr(0, end) << '\n';
            lines.remove_prefix(end == std::string_view::npos ? lines.size() : end + 1);
        }
    }

    std::string path() const { return path_.string(); }

  private:
    static constexpr const char* kFiles[] = {"class/powercap/intel-rapl:0/name",
                                             "class/powercap/intel-rapl:0/energy_uj",
                                             "class/powercap/intel-rapl:0/max_energy_range_uj",
                                             "class/hwmon/hwmon0/name",
                                             "class/hwmon/hwmon0/power1_input",
                                             "devices/system/cpu/cpu0/cpu_capacity",
                                             "devices/system/cpu/cpu1/cpu_capacity",
                                             "devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq",
                                             "devices/system/cpu/cpu1/cpufreq/cpuinfo_max_freq",
                                             "bus/event_source/devices/cpu/type",
                                             "bus/event_source/devices/cpu/cpus",
                                             "bus/event_source/devices/cpu/format/event",
                                             "bus/event_source/devices/cpu/events/cpu-cycles",
                                             "devices/system/cpu/cpu0/acpi_cppc/highest_perf",
                                             "devices/system/cpu/cpu1/acpi_cppc/highest_perf",
                                             "proc/self/mountinfo",
                                             "proc/self/cgroup",
                                             "sys/fs/cgroup/cpu.max"};

    std::filesystem::path path_;
};

void read_meter(const char* choice, const EnergySystem& system) {
    try {
        const FoundEnergyMeter found = find_energy_meter(choice, system);
        if (!found.meter) return;
        found.meter->sample(EnergyMeter::TimePoint() + std::chrono::seconds(1));
        for (const EnergyDomain& domain : found.meter->domains())
            if (!std::isfinite(domain.joules)) std::abort();
    } catch (const PlatformError&) {
    }
}

void read_pmus(const std::string& root) {
    try {
        static_cast<void>(internal::core_pmus(root));
    } catch (const PlatformError&) {
    }
}

}  // namespace

/// For any text of the kernel's files or of another program, energy is finite or a PlatformError, and all
/// cores have a kind.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const SystemRoot root;
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    root.write(text);
    const EnergySystem system{.sys_root = root.path()};
    for (const char* choice : {"powercap", "hwmon"}) read_meter(choice, system);
    read_meter(("file:" + root.path() + "/class/hwmon/hwmon0/name").c_str(), system);
    try {
        if (!(internal::parse_reading(text, "fuzz").value >= 0)) std::abort();
    } catch (const PlatformError&) {
    }
    read_pmus(root.path());
    const Topology topology = Topology::load({.machine = TopologySource::Machine::kSynthetic,
                                              .description = "core:2 pu:1",
                                              .sysfs_root = root.path(),
                                              .cgroup_root = root.path()});
    if (topology.cores_by_quota() < 1 || topology.cores_by_quota() > 2) std::abort();
    for (const Core& core : topology.cores)
        if (core.kind >= topology.kinds.size()) std::abort();
    return 0;
}
