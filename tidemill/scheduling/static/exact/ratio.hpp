#pragma once

#include <algorithm>
#include <cmath>
#include <compare>
#include <cstdint>
#include <limits>

namespace tidemill::internal {

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

/// A period that stages may take, or have to stay below.
struct PeriodLimit {
    Ratio period;
    bool below = false;

    bool operator==(const PeriodLimit&) const = default;
};

/// Quotient and rest of a division, faster where 64 bits do.
struct Divided {
    Wide quotient;
    std::uint64_t rest;
};
inline Divided divided(Wide dividend, std::uint64_t divisor) {
    if (const auto low = static_cast<std::uint64_t>(dividend); low == dividend)
        return {low / divisor, low % divisor};
    return {dividend / divisor, static_cast<std::uint64_t>(dividend % divisor)};
}

/// Largest whole weight that `cores` cores do within the limit together, saturated. A limit that has to stay
/// below its period is not 0.
inline std::uint64_t capacity(const PeriodLimit& limit, std::uint64_t cores) {
    constexpr std::uint64_t kSaturated = std::uint64_t{1} << 63;
    const Wide work = Wide{limit.period.num} * cores - (limit.below ? 1 : 0);
    return static_cast<std::uint64_t>(std::min<Wide>(divided(work, limit.period.den).quotient, kSaturated));
}

/// The fewest cores that do a weight within the limit together, at least one; saturated.
inline std::uint64_t cores_for(std::uint64_t weight, const PeriodLimit& limit) {
    constexpr std::uint64_t kSaturated = std::numeric_limits<std::uint64_t>::max();
    if (weight == 0) return 1;
    const auto& [num, den] = limit.period;
    if (num == 0) return kSaturated;
    const Wide work = Wide{weight} * den + (limit.below ? 1 : 0);
    return static_cast<std::uint64_t>(std::min<Wide>(divided(work + num - 1, num).quotient, kSaturated));
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

}  // namespace tidemill::internal
