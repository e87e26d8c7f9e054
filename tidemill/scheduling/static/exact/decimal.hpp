#pragma once

#include <cstdint>
#include <optional>

namespace tidemill::internal {

/// The last power of ten that is a double.
inline constexpr int kMaxDecimals = 22;

/// A number as people write it: digits * 10^-decimals, with the fewest decimals that read as the wanted
/// double.
struct Decimal {
    std::uint64_t digits = 0;
    int decimals = 0;
};

/// The decimal that reads as a value of at least 0; nothing when it has more than 2^53 units of its last
/// digit.
std::optional<Decimal> to_decimal(double value);

/// Exact product; nothing when either is nothing or the product has more than 2^53 units.
std::optional<Decimal> product(const std::optional<Decimal>& a, const std::optional<Decimal>& b);

/// The value in units of 10^-decimals, which must be no fewer than its own; nothing beyond 2^53.
std::optional<std::uint64_t> scaled(const Decimal& value, int decimals);

/// 10^decimals, for up to kMaxDecimals.
double power_of_ten(int decimals);

}  // namespace tidemill::internal
