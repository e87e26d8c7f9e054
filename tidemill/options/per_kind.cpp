#include "tidemill/options/per_kind.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "tidemill/base/cli_error.hpp"

namespace tidemill::cli {

namespace {

// All parts between commas, empty ones too; none of an empty text.
std::vector<std::string> split(const std::string& text) {
    std::vector<std::string> parts;
    if (!text.empty()) parts.emplace_back();
    for (const char letter : text) {
        if (letter == ',') {
            parts.emplace_back();
        } else {
            parts.back() += letter;
        }
    }
    return parts;
}

bool parse_number(const std::string& text, double& number) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return error == std::errc{} && end == text.data() + text.size() && std::isfinite(number);
}

}  // namespace

std::vector<std::pair<std::string, double>> parse_per_kind(const std::string& text,
                                                           const std::string& option) {
    std::vector<std::pair<std::string, double>> kinds;
    const auto fail = [&](const std::string& part) {
        throw WrongUsage(fmt::format("{} {}: '{}' is not kind=number", option, text, part));
    };
    for (const std::string& part : split(text)) {
        const std::size_t equals = part.find('=');
        if (equals == std::string::npos || equals == 0) fail(part);
        const std::string kind = part.substr(0, equals);
        if (std::ranges::any_of(kinds, [&](const auto& known) { return known.first == kind; })) {
            throw WrongUsage(fmt::format("{} {}: {} is there twice", option, text, kind));
        }
        double number = 0;
        if (!parse_number(part.substr(equals + 1), number)) fail(part);
        kinds.emplace_back(kind, number);
    }
    return kinds;
}

}  // namespace tidemill::cli
