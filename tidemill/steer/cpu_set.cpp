#include "tidemill/steer/cpu_set.hpp"

#include <algorithm>
#include <iterator>

#include "tidemill/machine/pu_set.hpp"
#include "tidemill/steer/internal/text_numbers.hpp"

namespace tidemill::steer {

namespace {

constexpr int kNumbers = 1 << 16;

struct Range {
    int first;
    int last;
};

std::optional<Range> parse_range(std::string_view text) {
    const std::size_t dash = text.find('-');
    const auto first = internal::whole_number<int>(text.substr(0, dash));
    const auto last =
        dash == std::string_view::npos ? first : internal::whole_number<int>(text.substr(dash + 1));
    if (!first || !last || *first < 0 || *last < *first || *last >= kNumbers) return std::nullopt;
    return Range{*first, *last};
}

}  // namespace

std::optional<CpuSet> parse_cpu_set(std::string_view text) {
    if (text.ends_with('\n')) text.remove_suffix(1);
    CpuSet set;
    while (!text.empty()) {
        const std::size_t comma = std::min(text.find(','), text.size());
        const auto range = parse_range(text.substr(0, comma));
        if (!range || (!set.empty() && range->first <= set.back())) return std::nullopt;
        for (int number = range->first; number <= range->last; ++number) set.push_back(number);
        if (comma + 1 == text.size()) return std::nullopt;
        text.remove_prefix(std::min(comma + 1, text.size()));
    }
    return set;
}

std::string to_text(const CpuSet& set) {
    return tidemill::internal::number_ranges("", set);
}

CpuSet both(const CpuSet& one, const CpuSet& other) {
    CpuSet common;
    std::ranges::set_intersection(one, other, std::back_inserter(common));
    return common;
}

bool is_within(const CpuSet& part, const CpuSet& whole) {
    return std::ranges::includes(whole, part);
}

}  // namespace tidemill::steer
