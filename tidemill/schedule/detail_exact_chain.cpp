#include "tidemill/schedule/detail_exact_chain.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

namespace tidemill::detail {
namespace {

constexpr double kMaxUnits = 9007199254740992.0;  // 2^53: every integer up to here is a double
constexpr std::uint64_t kMaxExact = std::uint64_t{1} << 53;
constexpr std::uint64_t kMaxSum = std::uint64_t{1} << 62;
constexpr int kMaxDecimals = 22;  // 10^22 is the last power of ten that is a double

constexpr std::array<double, kMaxDecimals + 1> kPowersOfTen{1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                                            1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                                            1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

/// digits * 10^-decimals, with the fewest decimals that read as the wanted double.
struct Decimal {
    std::uint64_t digits = 0;
    int decimals = 0;
};

[[noreturn]] void refuse(const ChainTask& task, double weight) {
    throw ScheduleError(
        fmt::format("task '{}': weight {} needs more digits than exact scheduling has (2^53 units of "
                    "the finest decimal used in the chain); round the weights, for instance to "
                    "nanoseconds",
                    task.name, weight));
}

// The whole number nearest to the exact product; the product alone may be rounded away from it above 2^51.
double nearest_units(double weight, double power) {
    const double units = std::nearbyint(weight * power);
    const double rest = std::fma(weight, power, -units);
    return units + (rest > 0.5 ? 1.0 : rest < -0.5 ? -1.0 : 0.0);
}

Decimal decimal_of(const ChainTask& task, double weight) {
    if (weight <= kMaxUnits && weight == std::floor(weight)) return {static_cast<std::uint64_t>(weight), 0};
    for (int decimals = 1; decimals <= kMaxDecimals; ++decimals) {
        const double power = kPowersOfTen[static_cast<std::size_t>(decimals)];
        const double units = nearest_units(weight, power);
        if (units > kMaxUnits) break;
        // Both operands are exact, so the quotient is the double that the decimal reads as.
        if (units / power == weight) return {static_cast<std::uint64_t>(units), decimals};
    }
    refuse(task, weight);
}

using DecimalColumns = std::vector<std::vector<Decimal>>;

DecimalColumns decimal_columns(const Chain& chain, const std::vector<ExactKind>& kinds) {
    DecimalColumns columns(kinds.size());
    for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
        columns[kind].reserve(chain.tasks.size());
        for (const auto& task : chain.tasks)
            columns[kind].push_back(decimal_of(task, task.weight_us[kinds[kind].chain_kind]));
    }
    return columns;
}

int most_decimals(const DecimalColumns& columns) {
    int most = 0;
    for (const auto& column : columns)
        for (const auto& decimal : column) most = std::max(most, decimal.decimals);
    return most;
}

std::uint64_t scaled(const Decimal& value, int decimals, const ChainTask& task, double weight) {
    Wide units = value.digits;
    for (int i = value.decimals; i < decimals && units <= kMaxExact; ++i) units *= 10;
    if (units > kMaxExact) refuse(task, weight);
    return static_cast<std::uint64_t>(units);
}

std::vector<std::uint64_t> prefix_sums(const Chain& chain, std::size_t kind,
                                       const std::vector<Decimal>& weights, int decimals) {
    std::vector<std::uint64_t> prefix(weights.size() + 1, 0);
    for (std::size_t i = 0; i < weights.size(); ++i) {
        prefix[i + 1] =
            prefix[i] + scaled(weights[i], decimals, chain.tasks[i], chain.tasks[i].weight_us[kind]);
        if (prefix[i + 1] > kMaxSum)
            throw ScheduleError(
                fmt::format("chain: the weights on '{}' add up to more than 2^62 units of the finest "
                            "decimal used; round the weights, for instance to nanoseconds",
                            chain.kinds[kind]));
    }
    return prefix;
}

std::vector<std::size_t> run_begins(const Chain& chain) {
    std::vector<std::size_t> begins(chain.tasks.size() + 1, 0);
    for (std::size_t i = 0; i < chain.tasks.size(); ++i)
        begins[i + 1] = chain.tasks[i].replicable ? begins[i] : i + 1;
    return begins;
}

std::vector<ExactKind> usable_kinds(const Chain& chain, const Platform& platform) {
    std::vector<ExactKind> kinds;
    for (const auto& [kind, count] : platform.kinds()) {
        if (count < 0)
            throw ScheduleError(
                fmt::format("platform: {} cores of kind '{}'; expected at least 0", count, kind));
        if (count > 0) kinds.push_back({chain.kind_index(kind), count, {}});
    }
    if (kinds.empty()) throw ScheduleError("platform: no cores; give at least one, for instance \"big=1\"");
    return kinds;
}

}  // namespace

std::uint64_t ExactChain::total_cores() const {
    std::uint64_t total = 0;
    for (const auto& kind : kinds) total += static_cast<std::uint64_t>(kind.cores);
    return total;
}

ExactChain exact_chain(const Chain& chain, const Platform& platform) {
    check(chain);
    ExactChain exact;
    exact.size = chain.tasks.size();
    exact.kinds = usable_kinds(chain, platform);
    exact.run_begin = run_begins(chain);
    const DecimalColumns columns = decimal_columns(chain, exact.kinds);
    const int decimals = most_decimals(columns);
    exact.units_per_us = kPowersOfTen[static_cast<std::size_t>(decimals)];
    for (std::size_t kind = 0; kind < exact.kinds.size(); ++kind)
        exact.kinds[kind].prefix = prefix_sums(chain, exact.kinds[kind].chain_kind, columns[kind], decimals);
    return exact;
}

}  // namespace tidemill::detail
