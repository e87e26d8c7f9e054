#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <memory>
#include <utility>

#include <fmt/format.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tidemill/platform/internal/energy_sensor.hpp"
#include "tidemill/platform/internal/perf_event.hpp"
#include "tidemill/platform/platform_error.hpp"

namespace tidemill::internal {

namespace {

int open_perf_event(const PerfEvent& event) {
    perf_event_attr attributes{};
    attributes.size = sizeof(attributes);
    attributes.type = event.type;
    attributes.config = event.config;
    // All processes, on the CPU that speaks for its package.
    return static_cast<int>(
        syscall(SYS_perf_event_open, &attributes, -1, event.cpu, -1, PERF_FLAG_FD_CLOEXEC));
}

PlatformError refusal(const std::string& event, int error) {
    const bool denied = error == EACCES || error == EPERM;
    return PlatformError(fmt::format("{}: {}{}", event, std::strerror(error),
                                     denied ? " (root may, or kernel.perf_event_paranoid below 1)" : ""));
}

std::uint64_t read_counter(const Descriptor& file, const std::string& name) {
    std::uint64_t count = 0;
    if (::read(file.number(), &count, sizeof(count)) == sizeof(count)) return count;
    throw PlatformError(fmt::format("{} gives no count", name));
}

// "event=0x02"
std::uint64_t parse_event(const std::string& path) {
    const std::string text = read_line(path);
    constexpr std::string_view kPrefix = "event=0x";
    if (text.starts_with(kPrefix)) {
        const char* const end = text.data() + text.size();
        std::uint64_t config = 0;
        const auto result = std::from_chars(text.data() + kPrefix.size(), end, config, 16);
        if (result.ec == std::errc{} && result.ptr == end) return config;
    }
    throw PlatformError(fmt::format("{}: \"{}\" is not an event", path, text));
}

// The kernel's short names, as powercap spells them.
std::string domain_name(std::string_view event, std::size_t package) {
    if (event == "energy-psys") return "psys";
    std::string name = fmt::format("package-{}", package);
    if (event == "energy-pkg") return name;
    if (event == "energy-ram") return name + "/dram";
    return name + "/" + std::string(event.substr(event.find('-') + 1));
}

}  // namespace

std::vector<EnergySensor> perf_sensors(const EnergySystem& system) {
    const std::string pmu = system.sys_root + "/bus/event_source/devices/power";
    const auto open = system.open_perf ? system.open_perf : open_perf_event;
    std::vector<EnergySensor> sensors;
    for (const std::string& path : entries(pmu + "/events", "energy-")) {
        const std::string event = path.substr(path.rfind('/') + 1);
        if (event.find('.') != std::string::npos) continue;
        const double joules_per_count = read_number(path + ".scale");
        const auto type = static_cast<std::uint32_t>(std::max(read_number(pmu + "/type"), 0.0));
        const std::vector<int> cpus = read_cpus(pmu + "/cpumask");  // one CPU for each package
        for (std::size_t package = 0; package < cpus.size(); ++package) {
            const int number = open({type, parse_event(path), cpus[package]});
            if (number < 0) throw refusal(event, errno);
            const auto file = std::make_shared<Descriptor>(number);
            sensors.push_back({domain_name(event, package), Measures::kJoules, [=] {
                                   return joules_per_count * static_cast<double>(read_counter(*file, event));
                               }});
        }
    }
    if (sensors.empty()) throw PlatformError(fmt::format("no energy events in {}", pmu));
    choose_rapl_total(sensors);
    return sensors;
}

}  // namespace tidemill::internal
