#include "tidemill/machine/internal/core_kinds.hpp"

#include <algorithm>
#include <charconv>
#include <functional>
#include <iterator>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "tidemill/machine/internal/hwloc.hpp"
#include "tidemill/machine/internal/sysfs_kinds.hpp"
#include "tidemill/machine/node_list.hpp"
#include "tidemill/machine/platform_error.hpp"

namespace tidemill::internal {
namespace {

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

bool types_tell(std::span<const RankedKind> ranked) {
    const auto rank = [](const RankedKind& r) { return type_rank(r.kind.core_type); };
    return std::ranges::all_of(ranked, [&](const RankedKind& r) { return rank(r).has_value(); }) &&
           std::ranges::any_of(ranked, [&](const RankedKind& r) { return rank(r) != rank(ranked.front()); });
}

// False when no source says which kind is the faster one.
bool sort_big_first(std::vector<RankedKind>& ranked) {
    if (ranked.size() < 2) return true;
    const auto sort_by = [&](auto key) { std::ranges::stable_sort(ranked, std::greater{}, key); };
    if (types_tell(ranked))
        sort_by([](const RankedKind& r) {
            return std::tuple(-*type_rank(r.kind.core_type), r.efficiency, r.kind.max_frequency_mhz);
        });
    else if (std::ranges::all_of(ranked, [](const RankedKind& r) { return r.efficiency >= 0; }))
        sort_by(&RankedKind::efficiency);
    else if (all_know(ranked, &FoundKind::capacity))
        sort_by([](const RankedKind& r) { return *r.kind.capacity; });
    else if (all_know(ranked, &FoundKind::max_frequency_mhz))
        sort_by([](const RankedKind& r) { return *r.kind.max_frequency_mhz; });
    else
        return false;
    return true;
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
    std::vector<FoundKind> kinds;
    for (RankedKind& next : ranked) kinds.push_back(std::move(next.kind));
    return merge_speed_bins(std::move(kinds));
}

// hwloc ranks by frequency where it knows nothing else; little cores may have the higher one.
bool knows_frequencies_only(std::span<const FoundKind> kinds) {
    return std::ranges::all_of(kinds, [](const FoundKind& kind) {
        return kind.max_frequency_mhz && !kind.capacity && kind.core_type.empty();
    });
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

std::string default_kind_name(std::size_t index) {
    if (index == 0) return "big";
    return index == 1 ? "little" : fmt::format("kind{}", index + 1);
}

std::optional<int> type_rank(std::string_view core_type) {
    struct Ranked {
        std::string_view type;
        int rank;
    };
    constexpr Ranked kKnown[] = {{"IntelCore", 0},
                                 {"IntelAtom", 1},
                                 {"IntelLowPower", 2},
                                 {"AMDPerformance", 0},
                                 {"AMDEfficiency", 1}};
    const auto* const found = std::ranges::find(kKnown, core_type, &Ranked::type);
    return found == std::end(kKnown) ? std::nullopt : std::optional(found->rank);
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

bool is_speed_bin(int slower, int faster) {
    return 10LL * slower > 9LL * faster;
}

namespace {

bool is_same_design(const FoundKind& big, const FoundKind& little) {
    if (big.core_type != little.core_type) return false;
    if (big.capacity && little.capacity) return is_speed_bin(*little.capacity, *big.capacity);
    return big.max_frequency_mhz && little.max_frequency_mhz &&
           is_speed_bin(*little.max_frequency_mhz, *big.max_frequency_mhz);
}

}  // namespace

std::vector<FoundKind> merge_speed_bins(std::vector<FoundKind> kinds) {
    std::vector<FoundKind> merged;
    for (FoundKind& next : kinds) {
        if (!merged.empty() && is_same_design(merged.back(), next)) {
            auto& members = merged.back().os_numbers;
            members.insert(members.end(), next.os_numbers.begin(), next.os_numbers.end());
        } else {
            merged.push_back(std::move(next));
        }
    }
    return merged;
}

FoundKinds discover_kinds(hwloc_topology_t machine, std::span<const Core> cores,
                          const std::optional<std::string>& sysfs_root) {
    std::vector<FoundKinds> candidates;
    if (sysfs_root) candidates = sysfs_kinds(*sysfs_root, cores);
    FoundKinds by_hwloc{hwloc_kinds(machine, cores), "hwloc"};
    const bool is_last = knows_frequencies_only(by_hwloc.kinds);
    candidates.insert(is_last ? candidates.end() : candidates.begin(), std::move(by_hwloc));
    std::erase_if(candidates, [&](const FoundKinds& found) { return !fits(found.kinds, cores); });
    const auto tells_apart = [](const FoundKinds& found) { return found.kinds.size() > 1; };
    const auto best = std::ranges::find_if(candidates, tells_apart);
    if (best != candidates.end()) return *best;
    FoundKinds one{{FoundKind{.os_numbers = all_os_numbers(cores)}},
                   "nothing (all cores are taken as equal)"};
    if (!candidates.empty()) one = std::move(candidates.front());
    if (sysfs_root) one.from += unlike_counters(*sysfs_root, cores);
    return one;
}

}  // namespace tidemill::internal
