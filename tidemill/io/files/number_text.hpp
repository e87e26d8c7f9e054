#pragma once

#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace tidemill::io {

/// A finite number as people write it: 12, +3, -0.5, 1e6, 2.4M; k, M and G behind it are thousands, millions
/// and billions. Nothing when the text is anything else, or nothing.
std::optional<double> real_number(std::string_view text);

/// Seconds of a time: 1.5, 200ms, 30us, 2min, 1h.
std::optional<double> seconds_in(std::string_view text);

/// The same as text, in three digits and a unit: "24.6 ms", "8.19 s"; from a thousand seconds on in six:
/// "86400 s".
std::string seconds_text(double seconds);

/// A whole number by sign and size.
struct WholeNumber {
    bool negative = false;
    std::uint64_t size = 0;
};

/// A whole number: 12, -3, 64k, 0x47.
std::optional<WholeNumber> any_whole_number(std::string_view text);

/// The same, of a type that can hold it.
template <std::integral Number>
std::optional<Number> whole_number(std::string_view text) {
    const auto found = any_whole_number(text);
    if (!found) return std::nullopt;
    if (!found->negative)
        return std::in_range<Number>(found->size) ? std::optional(static_cast<Number>(found->size))
                                                  : std::nullopt;
    if (found->size > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
        return std::nullopt;
    const std::int64_t value = -static_cast<std::int64_t>(found->size);
    return std::in_range<Number>(value) ? std::optional(static_cast<Number>(value)) : std::nullopt;
}

}  // namespace tidemill::io
