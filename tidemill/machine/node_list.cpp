#include "tidemill/machine/node_list.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

#include <fmt/format.h>

#include "tidemill/machine/platform_error.hpp"

namespace tidemill {
namespace {

struct Range {
    int first;
    int last;
};

std::optional<int> take_number(std::string_view& text) {
    int number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || text.front() == '-') return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    return number;
}

std::optional<Range> parse_range(std::string_view text) {
    const auto first = take_number(text);
    if (!first) return std::nullopt;
    if (text.empty()) return Range{*first, *first};
    if (text.front() != '-') return std::nullopt;
    text.remove_prefix(1);
    const auto last = take_number(text);
    if (!last || !text.empty() || *last < *first) return std::nullopt;
    return Range{*first, *last};
}

std::string available_pus(std::span<const Core> cores) {
    PuSet pus;
    for (const Core& core : cores) pus.insert(pus.end(), core.pus.begin(), core.pus.end());
    return to_string(pus);
}

std::string available_cores(std::span<const Core> cores) {
    std::vector<int> numbers;
    for (const Core& core : cores) numbers.push_back(core.number);
    return internal::number_ranges("core", std::move(numbers));
}

PuSet pu_node(std::span<const Core> cores, int number, std::string_view entry) {
    for (const Core& core : cores) {
        const auto pu = std::ranges::find(core.pus, number, &Pu::number);
        if (pu != core.pus.end()) return {*pu};
    }
    throw PlatformError(fmt::format("node-list entry \"{}\": PU{} is not usable here; there are {}", entry,
                                    number, available_pus(cores)));
}

PuSet core_node(std::span<const Core> cores, int number, std::string_view entry) {
    const auto core = std::ranges::find(cores, number, &Core::number);
    if (core != cores.end()) return core->pus;
    throw PlatformError(fmt::format("node-list entry \"{}\": core{} is not usable here; there are {}", entry,
                                    number, available_cores(cores)));
}

}  // namespace

std::vector<PuSet> parse_node(std::span<const Core> cores, std::string_view entry) {
    const bool whole_cores = entry.starts_with("core");
    std::string_view numbers = entry;
    if (whole_cores) numbers.remove_prefix(4);
    if (entry.starts_with("PU")) numbers.remove_prefix(2);
    const auto range = parse_range(numbers);
    if (!range) {
        throw PlatformError(fmt::format(
            R"(node-list entry "{}" is not understood: write "PU3", "PU0-7", "core2", "core0-5" or a number)",
            entry));
    }
    std::vector<PuSet> nodes;
    // The first number that does not exist throws, so a huge range ends before its last number overflows.
    for (int number = range->first; number <= range->last; ++number) {
        nodes.push_back(whole_cores ? core_node(cores, number, entry) : pu_node(cores, number, entry));
    }
    return nodes;
}

std::vector<PuSet> parse_node_list(std::span<const Core> cores, std::span<const std::string> entries) {
    std::vector<PuSet> nodes;
    PuSet seen;
    for (const std::string& entry : entries) {
        for (PuSet& node : parse_node(cores, entry)) {
            for (const Pu& pu : node) {
                if (std::ranges::find(seen, pu) != seen.end())
                    throw PlatformError(
                        fmt::format("node-list entry \"{}\" names PU{} a second time", entry, pu.number));
                seen.push_back(pu);
            }
            nodes.push_back(std::move(node));
        }
    }
    return nodes;
}

}  // namespace tidemill
