#include "tidemill/io/files/number_text.hpp"

#include <charconv>
#include <cmath>
#include <span>
#include <system_error>

#include <fmt/format.h>

namespace tidemill::io {

namespace {

struct NumberUnit {
    std::string_view name;
    double factor;
};

constexpr NumberUnit kThousands[] = {{"k", 1e3}, {"M", 1e6}, {"G", 1e9}};
constexpr NumberUnit kTimeUnits[] = {{"ms", 1e-3}, {"us", 1e-6}, {"min", 60}, {"h", 3600}, {"s", 1}};

// Takes the unit off the end of the text.
double factor_of(std::string_view& text, std::span<const NumberUnit> units) {
    for (const NumberUnit& unit : units) {
        if (!text.ends_with(unit.name)) continue;
        text.remove_suffix(unit.name.size());
        return unit.factor;
    }
    return 1;
}

template <class Number, class... Format>
std::optional<Number> parsed(std::string_view text, Format... format) {
    Number value{};
    const char* const end = text.data() + text.size();
    const auto [stopped, error] = std::from_chars(text.data(), end, value, format...);
    return error == std::errc() && stopped == end ? std::optional(value) : std::nullopt;
}

std::optional<double> in_units(std::string_view text, std::span<const NumberUnit> units) {
    const double factor = factor_of(text, units);
    const auto number = parsed<double>(text);
    if (!number || !std::isfinite(*number * factor)) return std::nullopt;
    return *number * factor;
}

}  // namespace

std::optional<double> real_number(std::string_view text) {
    if (text.size() > 1 && text[0] == '+' && text[1] != '-') text.remove_prefix(1);
    return in_units(text, kThousands);
}

std::optional<double> seconds_in(std::string_view text) {
    return in_units(text, kTimeUnits);
}

std::string seconds_text(double seconds) {
    constexpr double kNearlyOne = 0.9995;  // rounds to it
    if (seconds >= 1000 * kNearlyOne) return fmt::format("{:.6g} s", seconds);
    if (seconds >= kNearlyOne || seconds == 0) return fmt::format("{:.3g} s", seconds);
    return seconds >= 1e-3 * kNearlyOne ? fmt::format("{:.3g} ms", seconds * 1e3)
                                        : fmt::format("{:.3g} us", seconds * 1e6);
}

std::optional<WholeNumber> any_whole_number(std::string_view text) {
    WholeNumber whole{.negative = text.starts_with('-')};
    if (whole.negative) text.remove_prefix(1);
    const bool hexadecimal = text.starts_with("0x");
    if (hexadecimal) text.remove_prefix(2);
    const auto factor = hexadecimal ? 1 : static_cast<std::uint64_t>(factor_of(text, kThousands));
    const auto number = parsed<std::uint64_t>(text, hexadecimal ? 16 : 10);
    if (!number || __builtin_mul_overflow(*number, factor, &whole.size)) return std::nullopt;
    return whole;
}

}  // namespace tidemill::io
