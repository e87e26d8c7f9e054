#include "tidemill/scheduling/static/exact/decimal.hpp"

#include <array>
#include <cmath>

#include "tidemill/scheduling/static/exact/ratio.hpp"

namespace tidemill::internal {
namespace {

constexpr double kMaxUnits = 9007199254740992.0;  // 2^53: every integer up to here is a double
constexpr std::uint64_t kMaxExact = std::uint64_t{1} << 53;

constexpr std::array<double, kMaxDecimals + 1> kPowersOfTen{1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                                            1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                                            1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

// The whole number nearest to the exact product; the product alone may be rounded away from it above 2^51.
double nearest_units(double value, double power) {
    const double units = std::nearbyint(value * power);
    const double rest = std::fma(value, power, -units);
    return units + (rest > 0.5 ? 1.0 : rest < -0.5 ? -1.0 : 0.0);
}

}  // namespace

std::optional<Decimal> to_decimal(double value) {
    if (value <= kMaxUnits && value == std::floor(value))
        return Decimal{static_cast<std::uint64_t>(value), 0};
    for (int decimals = 1; decimals <= kMaxDecimals; ++decimals) {
        const double units = nearest_units(value, power_of_ten(decimals));
        if (units > kMaxUnits) break;
        // Both operands are exact, so the quotient is the double that the decimal reads as.
        if (units / power_of_ten(decimals) == value)
            return Decimal{static_cast<std::uint64_t>(units), decimals};
    }
    return std::nullopt;
}

std::optional<Decimal> product(const std::optional<Decimal>& a, const std::optional<Decimal>& b) {
    if (!a || !b) return std::nullopt;
    const Wide digits = Wide{a->digits} * b->digits;
    if (digits > kMaxExact || a->decimals + b->decimals > kMaxDecimals) return std::nullopt;
    return Decimal{static_cast<std::uint64_t>(digits), a->decimals + b->decimals};
}

std::optional<std::uint64_t> scaled(const Decimal& value, int decimals) {
    Wide units = value.digits;
    for (int i = value.decimals; i < decimals && units <= kMaxExact; ++i) units *= 10;
    if (units > kMaxExact) return std::nullopt;
    return static_cast<std::uint64_t>(units);
}

double power_of_ten(int decimals) {
    return kPowersOfTen[static_cast<std::size_t>(decimals)];
}

}  // namespace tidemill::internal
