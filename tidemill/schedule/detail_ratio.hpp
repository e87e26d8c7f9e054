#pragma once

#include <algorithm>
#include <cmath>
#include <compare>
#include <cstdint>

namespace tidemill::detail {

__extension__ using Wide = unsigned __int128;

/// A period as an exact fraction of weight units; numerator below 2^63, denominator above 0.
struct Ratio {
    std::uint64_t num = 0;
    std::uint64_t den = 1;

    friend bool operator==(const Ratio& a, const Ratio& b) {
        return Wide{a.num} * b.den == Wide{b.num} * a.den;
    }
    friend std::strong_ordering operator<=>(const Ratio& a, const Ratio& b) {
        return Wide{a.num} * b.den <=> Wide{b.num} * a.den;
    }
};

/// Largest whole weight that `cores` cores do within the period together: floor(period * cores), saturated.
inline std::uint64_t capacity(const Ratio& period, std::uint64_t cores) {
    constexpr std::uint64_t kSaturated = std::uint64_t{1} << 63;
    const Wide work = Wide{period.num} * cores;
    if (work >> 64 == 0) return static_cast<std::uint64_t>(work) / period.den;
    const Wide quotient = work / period.den;
    return quotient < kSaturated ? static_cast<std::uint64_t>(quotient) : kSaturated;
}

/// A wanted period in units, rounded to the nearest 2^-20 of one: decimals that are whole units are exact.
inline Ratio ratio_of(double period_us, double units_per_us) {
    constexpr int kBits = 20;
    constexpr double kBeyondAll = 0x1p62;
    const double units = period_us * units_per_us;
    if (units >= kBeyondAll) return {std::uint64_t{1} << 62, 1};
    const int bits = std::clamp(61 - std::ilogb(std::max(units, 1.0)), 0, kBits);
    return {static_cast<std::uint64_t>(std::llround(std::ldexp(units, bits))), std::uint64_t{1} << bits};
}

}  // namespace tidemill::detail
