#include "tidemill/options/option_slip.hpp"

#include <algorithm>
#include <cstddef>

#include <fmt/format.h>

namespace tidemill::cli {

namespace {

// Whether so many letters that are too many, are missing or are others make the difference.
bool is_within(std::size_t edits, std::string_view word, std::string_view name) {
    const auto [other, its_other] = std::ranges::mismatch(word, name);
    const std::string_view from(other, word.end()), to(its_other, name.end());
    if (from.empty() || to.empty()) return std::max(from.size(), to.size()) <= edits;
    return edits > 0 &&
           (is_within(edits - 1, from.substr(1), to) || is_within(edits - 1, from, to.substr(1)) ||
            is_within(edits - 1, from.substr(1), to.substr(1)));
}

std::size_t letters_of(std::string_view name) {
    return name.size() - std::min(name.find_first_not_of('-'), name.size());
}

}  // namespace

std::string meant_instead(std::string_view word, const std::vector<std::string>& names) {
    const std::string_view slip = word.substr(0, word.find('='));
    const auto is_begun = [slip](const std::string& name) { return name.starts_with(slip); };
    const auto meant = [](const std::string& name) { return fmt::format("; did you mean {}?", name); };
    if (letters_of(slip) > 0 && std::ranges::count_if(names, is_begun) == 1)
        return meant(*std::ranges::find_if(names, is_begun));
    // Two other letters make another word of a short one.
    for (const std::size_t edits : {1, 2})
        for (const std::string& name : names)
            if (letters_of(name) >= 2 * edits && is_within(edits, slip, name)) return meant(name);
    return {};
}

}  // namespace tidemill::cli
