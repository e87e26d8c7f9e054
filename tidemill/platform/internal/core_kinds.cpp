#include "tidemill/platform/internal/core_kinds.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <fstream>
#include <functional>
#include <map>

#include <fmt/format.h>

#include "tidemill/platform/internal/hwloc.hpp"
#include "tidemill/platform/node_list.hpp"
#include "tidemill/platform/platform_error.hpp"

namespace tidemill::internal {
namespace {

// Cores of one design are sold in speed bins (RK3588's two A76 clusters, favoured cores of a desktop):
// what differs by less than a tenth is one kind.
bool about_equal(int slower, int faster) {
    return 10LL * slower > 9LL * faster;
}

std::vector<int> all_os_numbers(std::span<const Core> cores) {
    std::vector<int> numbers;
    for (const Core& core : cores)
        for (const Pu& pu : core.pus) numbers.push_back(pu.os_number);
    return numbers;
}

std::optional<int> to_int(std::string_view text) {
    int value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool good = error == std::errc{} && end == text.data() + text.size();
    return good ? std::optional(value) : std::nullopt;
}

std::vector<int> usable_members(hwloc_const_bitmap_t set, std::span<const Core> cores) {
    std::vector<int> members;
    for (int os_number : all_os_numbers(cores))
        if (hwloc_bitmap_isset(set, static_cast<unsigned>(os_number))) members.push_back(os_number);
    return members;
}

struct RankedKind {
    FoundKind kind;
    int efficiency = -1;  // hwloc: higher is faster, -1 unknown
};

void read_infos(std::span<const hwloc_info_s> infos, FoundKind& kind) {
    for (const hwloc_info_s& info : infos) {
        const std::string_view name = info.name;
        if (name == "CoreType") kind.core_type = info.value;
        if (name == "LinuxCapacity") kind.capacity = to_int(info.value);
        if (name == "FrequencyMaxMHz") kind.max_frequency_mhz = to_int(info.value);
    }
}

std::vector<RankedKind> read_hwloc_kinds(hwloc_topology_t machine, std::span<const Core> cores) {
    std::vector<RankedKind> ranked;
    const int count = hwloc_cpukinds_get_nr(machine, 0);
    const HwlocBitmap set{hwloc_bitmap_alloc()};
    for (int index = count - 1; index >= 0; --index) {
        RankedKind next;
        unsigned info_count = 0;
        hwloc_info_s* infos = nullptr;
        if (hwloc_cpukinds_get_info(machine, static_cast<unsigned>(index), set.get(), &next.efficiency,
                                    &info_count, &infos, 0) != 0)
            return {};
        next.kind.os_numbers = usable_members(set.get(), cores);
        read_infos({infos, info_count}, next.kind);
        if (!next.kind.os_numbers.empty()) ranked.push_back(std::move(next));
    }
    return ranked;
}

using Measure = std::optional<int> FoundKind::*;

bool all_know(std::span<const RankedKind> ranked, Measure measure) {
    return std::ranges::all_of(ranked, [&](const RankedKind& r) { return (r.kind.*measure).has_value(); });
}

// False when nothing tells which kind is the faster one.
bool sort_big_first(std::vector<RankedKind>& ranked) {
    if (ranked.size() < 2) return true;
    const auto sort_by = [&](auto key) { std::ranges::stable_sort(ranked, std::greater{}, key); };
    if (std::ranges::all_of(ranked, [](const RankedKind& r) { return r.efficiency >= 0; }))
        sort_by(&RankedKind::efficiency);
    else if (all_know(ranked, &FoundKind::capacity))
        sort_by([](const RankedKind& r) { return *r.kind.capacity; });
    else if (all_know(ranked, &FoundKind::max_frequency_mhz))
        sort_by([](const RankedKind& r) { return *r.kind.max_frequency_mhz; });
    else
        return false;
    return true;
}

bool is_same_design(const FoundKind& big, const FoundKind& little) {
    if (big.core_type != little.core_type) return false;
    if (big.capacity && little.capacity) return about_equal(*little.capacity, *big.capacity);
    return big.max_frequency_mhz && little.max_frequency_mhz &&
           about_equal(*little.max_frequency_mhz, *big.max_frequency_mhz);
}

std::vector<FoundKind> merge_speed_bins(std::vector<RankedKind> ranked) {
    std::vector<FoundKind> kinds;
    for (RankedKind& next : ranked) {
        if (!kinds.empty() && is_same_design(kinds.back(), next.kind)) {
            auto& members = kinds.back().os_numbers;
            members.insert(members.end(), next.kind.os_numbers.begin(), next.kind.os_numbers.end());
        } else {
            kinds.push_back(std::move(next.kind));
        }
    }
    return kinds;
}

// A source that leaves a PU out, or parts the threads of one core, is not to be believed.
bool fits(std::span<const FoundKind> kinds, std::span<const Core> cores) {
    const auto holds_core = [](const FoundKind& kind, const Core& core) {
        return std::ranges::all_of(core.pus, [&](const Pu& pu) {
            return std::ranges::find(kind.os_numbers, pu.os_number) != kind.os_numbers.end();
        });
    };
    return std::ranges::all_of(cores, [&](const Core& core) {
        return std::ranges::any_of(kinds, [&](const FoundKind& kind) { return holds_core(kind, core); });
    });
}

std::vector<FoundKind> hwloc_kinds(hwloc_topology_t machine, std::span<const Core> cores) {
    std::vector<RankedKind> ranked = read_hwloc_kinds(machine, cores);
    if (!sort_big_first(ranked)) return {};
    return merge_speed_bins(std::move(ranked));
}

std::optional<int> read_cpu_number(const std::string& root, int os_number, std::string_view file) {
    std::ifstream in(fmt::format("{}/devices/system/cpu/cpu{}/{}", root, os_number, file));
    std::string word;
    return in >> word ? to_int(word) : std::nullopt;
}

// One kind per speed, fastest first; nothing unless every PU tells its own.
std::vector<FoundKind> sysfs_kinds(const std::string& root, std::span<const Core> cores,
                                   std::string_view file, Measure measure, int unit) {
    std::map<int, std::vector<int>, std::greater<>> by_speed;
    for (int os_number : all_os_numbers(cores)) {
        const auto speed = read_cpu_number(root, os_number, file);
        if (!speed || *speed <= 0) return {};
        by_speed[*speed / unit].push_back(os_number);
    }
    std::vector<RankedKind> ranked;
    for (auto& [speed, os_numbers] : by_speed) {
        ranked.push_back({.kind = {.os_numbers = std::move(os_numbers)}});
        ranked.back().kind.*measure = speed;
    }
    return merge_speed_bins(std::move(ranked));
}

std::vector<std::string_view> split(std::string_view text, char separator) {
    std::vector<std::string_view> parts;
    while (true) {
        const std::size_t end = text.find(separator);
        parts.push_back(text.substr(0, end));
        if (end == std::string_view::npos) return parts;
        text.remove_prefix(end + 1);
    }
}

void start_kind(std::vector<FoundKind>& kinds, std::string_view name, std::string_view text) {
    if (name.empty() || std::ranges::find(kinds, name, &FoundKind::name) != kinds.end())
        throw PlatformError(fmt::format("kinds \"{}\": each kind needs a name of its own", text));
    kinds.push_back({.name = std::string(name)});
}

}  // namespace

FoundKinds kinds_by_hand(std::span<const Core> cores, std::string_view text) {
    FoundKinds found{.from = "the user"};
    std::vector<std::string> seen;
    for (std::string_view part : split(text, ',')) {
        const std::size_t equals = part.find('=');
        if (equals != std::string_view::npos) start_kind(found.kinds, part.substr(0, equals), text);
        if (found.kinds.empty())
            throw PlatformError(
                fmt::format("kinds \"{}\": write NAME=NODES, for instance big=0-3,little=4-7", text));
        seen.emplace_back(equals == std::string_view::npos ? part : part.substr(equals + 1));
        for (const PuSet& node : parse_node(cores, seen.back()))
            for (const Pu& pu : node) found.kinds.back().os_numbers.push_back(pu.os_number);
    }
    parse_node_list(cores, seen);  // refuses a PU that is in two kinds
    return found;
}

FoundKinds discover_kinds(hwloc_topology_t machine, std::span<const Core> cores,
                          const std::optional<std::string>& sysfs_root) {
    std::vector<FoundKinds> candidates;
    candidates.push_back({hwloc_kinds(machine, cores), "hwloc"});
    if (sysfs_root) {
        candidates.push_back({sysfs_kinds(*sysfs_root, cores, "cpu_capacity", &FoundKind::capacity, 1),
                              "the kernel's cpu_capacity"});
        candidates.push_back({sysfs_kinds(*sysfs_root, cores, "cpufreq/cpuinfo_max_freq",
                                          &FoundKind::max_frequency_mhz, 1000),  // the file is in kHz
                              "maximum frequencies"});
    }
    std::erase_if(candidates, [&](const FoundKinds& found) { return !fits(found.kinds, cores); });
    const auto tells_apart = [](const FoundKinds& found) { return found.kinds.size() > 1; };
    const auto best = std::ranges::find_if(candidates, tells_apart);
    if (best != candidates.end()) return *best;
    if (!candidates.empty()) return candidates.front();
    return {{FoundKind{.os_numbers = all_os_numbers(cores)}}, "nothing (all cores are taken as equal)"};
}

}  // namespace tidemill::internal
