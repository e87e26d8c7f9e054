#include "tidemill/machine/internal/sysfs_kinds.hpp"

#include <algorithm>
#include <fstream>
#include <functional>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tidemill/machine/internal/energy_sensor.hpp"
#include "tidemill/machine/internal/perf_event.hpp"
#include "tidemill/machine/platform_error.hpp"

namespace tidemill::internal {
namespace {

using Numbers = std::map<int, int>;  // by the operating system's number of the PU

std::optional<int> read_cpu_number(const std::string& root, int os_number, std::string_view file) {
    std::ifstream in(fmt::format("{}/devices/system/cpu/cpu{}/{}", root, os_number, file));
    std::string word;
    return in >> word ? to_int(word) : std::nullopt;
}

// Nothing unless every PU has its own, above 0.
Numbers numbers_of(const std::string& root, std::span<const Core> cores, std::string_view file) {
    Numbers numbers;
    for (const int os_number : all_os_numbers(cores)) {
        const auto number = read_cpu_number(root, os_number, file);
        if (!number || *number <= 0) return {};
        numbers[os_number] = *number;
    }
    return numbers;
}

// Fastest first.
std::map<int, std::vector<int>, std::greater<>> by_speed(const Numbers& numbers, int unit) {
    std::map<int, std::vector<int>, std::greater<>> members;
    for (const auto& [os_number, speed] : numbers) members[speed / unit].push_back(os_number);
    return members;
}

std::vector<FoundKind> kinds_by(const Numbers& numbers, std::optional<int> FoundKind::*measure, int unit) {
    std::vector<FoundKind> kinds;
    for (auto& [speed, os_numbers] : by_speed(numbers, unit)) {
        kinds.push_back({.os_numbers = os_numbers});
        kinds.back().*measure = speed;
    }
    return merge_speed_bins(std::move(kinds));
}

Numbers frequencies(const std::string& root, std::span<const Core> cores) {
    return numbers_of(root, cores, "cpufreq/cpuinfo_max_freq");  // in kHz
}

// Some machines rank the cores of one design here, each a step below the one before: so only a gap between
// neighbours is a border of kinds.
std::vector<FoundKind> kinds_by_acpi(const std::string& root, std::span<const Core> cores) {
    Numbers numbers = numbers_of(root, cores, "acpi_cppc/highest_perf");
    if (numbers.empty()) numbers = numbers_of(root, cores, "cpufreq/amd_pstate_highest_perf");
    std::vector<FoundKind> kinds;
    int fastest = 0;
    int previous = 0;
    for (const auto& [speed, os_numbers] : by_speed(numbers, 1)) {
        fastest = std::max(fastest, speed);
        if (kinds.empty() || !is_speed_bin(speed, previous))
            kinds.push_back({.capacity = static_cast<int>(1024LL * speed / fastest)});
        auto& members = kinds.back().os_numbers;
        members.insert(members.end(), os_numbers.begin(), os_numbers.end());
        previous = speed;
    }
    return kinds;
}

// The PMU that counts a CPU's events; a file that is no list of CPUs counts for nothing.
std::map<int, std::string> pmu_of_cpus(const std::string& root) {
    std::map<int, std::string> pmus;
    for (const std::string& path : entries(root + "/bus/event_source/devices", "")) {
        if (!exists(path + "/cpus")) continue;
        try {
            for (const int cpu : read_cpus(path + "/cpus")) pmus[cpu] = path.substr(path.rfind('/') + 1);
        } catch (const PlatformError&) {
        }
    }
    return pmus;
}

// As hwloc calls the same types.
std::string core_type_of(const std::string& pmu) {
    const std::pair<std::string_view, const char*> known[] = {
        {"cpu_core", "IntelCore"}, {"cpu_atom", "IntelAtom"}, {"cpu_lowpower", "IntelLowPower"}};
    const auto* const found = std::ranges::find(known, pmu, &std::pair<std::string_view, const char*>::first);
    return found == std::end(known) ? pmu : found->second;
}

// Core type of each PU; nothing unless all have one.
std::map<int, std::string> core_types(const std::string& root, std::span<const Core> cores) {
    const std::map<int, std::string> pmus = pmu_of_cpus(root);
    std::map<int, std::string> types;
    for (const int os_number : all_os_numbers(cores)) {
        const auto pmu = pmus.find(os_number);
        if (pmu == pmus.end()) return {};
        types[os_number] = core_type_of(pmu->second);
    }
    return types;
}

// Types whose words do not say which is the faster one must differ in frequency.
bool is_ranked(const std::vector<FoundKind>& kinds) {
    const auto says_rank = [](const FoundKind& kind) { return type_rank(kind.core_type).has_value(); };
    if (std::ranges::all_of(kinds, says_rank)) return true;
    for (std::size_t next = 1; next < kinds.size(); ++next) {
        const FoundKind& faster = kinds[next - 1];
        const FoundKind& slower = kinds[next];
        if (!faster.max_frequency_mhz || !slower.max_frequency_mhz) return false;
        if (faster.core_type != slower.core_type &&
            is_speed_bin(*slower.max_frequency_mhz, *faster.max_frequency_mhz))
            return false;
    }
    return true;
}

// One type may come in several speeds, as the low-power cores that share a PMU with the efficient ones.
std::vector<FoundKind> kinds_by_counters(const std::string& root, std::span<const Core> cores) {
    const Numbers speeds = frequencies(root, cores);
    std::map<std::tuple<int, int, std::string>, FoundKind> parts;
    for (const auto& [os_number, type] : core_types(root, cores)) {
        const int mhz = speeds.empty() ? 0 : speeds.at(os_number) / 1000;
        FoundKind& part = parts[{type_rank(type).value_or(0), -mhz, type}];
        part.os_numbers.push_back(os_number);
        part.core_type = type;
        if (mhz > 0) part.max_frequency_mhz = mhz;
    }
    std::vector<FoundKind> kinds;
    for (auto& [rank, part] : parts) kinds.push_back(std::move(part));
    kinds = merge_speed_bins(std::move(kinds));
    return is_ranked(kinds) ? kinds : std::vector<FoundKind>{};
}

}  // namespace

std::vector<FoundKinds> sysfs_kinds(const std::string& root, std::span<const Core> cores) {
    return {{kinds_by(numbers_of(root, cores, "cpu_capacity"), &FoundKind::capacity, 1),
             "the kernel's cpu_capacity"},
            {kinds_by_counters(root, cores), "which counters belong to which cores"},
            {kinds_by_acpi(root, cores), "ACPI's highest performance"},
            {kinds_by(frequencies(root, cores), &FoundKind::max_frequency_mhz, 1000), "maximum frequencies"}};
}

std::string unlike_counters(const std::string& root, std::span<const Core> cores) {
    std::set<std::string> names;
    for (const auto& [os_number, type] : core_types(root, cores)) names.insert(type);
    if (names.size() < 2) return {};
    return fmt::format(", though their counters are those of {}: calibrate --kinds measures which is faster",
                       fmt::join(names, " and "));
}

}  // namespace tidemill::internal
