#include "tidemill/lab/sim/cpi_stack.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "tidemill/scheduling/unequal/bridge_error.hpp"

namespace tidemill::bridge {

namespace {

constexpr double kSteps = 10;  // of the benefit, from 0 to 1

void check(const CpiMachine& machine) {
    const auto is_positive = [](double value) { return value > 0 && std::isfinite(value); };
    const auto is_cost = [](double value) { return value >= 0 && std::isfinite(value); };
    if (machine.capacities.empty() || machine.capacities.size() != machine.penalty_cycles.size())
        throw BridgeError(
            fmt::format("cpi-stack: {} capacities and {} penalties; give one of each for each kind",
                        machine.capacities.size(), machine.penalty_cycles.size()));
    if (!std::ranges::all_of(machine.capacities, is_positive) || !is_positive(machine.scale))
        throw BridgeError("cpi-stack: capacities and the scale must be above 0");
    if (!std::ranges::all_of(machine.penalty_cycles, is_cost))
        throw BridgeError("cpi-stack: a miss cannot cost less than 0 cycles");
}

Factor load_factor(const CpiMachine& machine, std::span<const History> on_kinds, policy::KindId kind) {
    const auto benefit = big_core_benefit(on_kinds, machine.penalty_cycles);
    if (!benefit) return {};
    const double core_factor = machine.capacities[0] / machine.capacities[kind];
    return {machine.scale * core_factor * *benefit, Quality::estimated};
}

}  // namespace

std::optional<double> big_core_benefit(std::span<const History> on_kinds,
                                       std::span<const double> penalty_cycles) {
    double cycles = 0;
    double stalled = 0;
    for (std::size_t kind = 0; kind < on_kinds.size(); ++kind) {
        const Sample& sum = on_kinds[kind].sum;
        if (sum.cycles == 0) continue;
        cycles += static_cast<double>(sum.cycles);
        stalled += static_cast<double>(sum.misses) * penalty_cycles[kind];
    }
    if (cycles == 0) return std::nullopt;
    return std::max(1.0, std::round(kSteps * (1 - stalled / cycles))) / kSteps;
}

Model cpi_stack(CpiMachine machine) {
    check(machine);
    return [machine = std::move(machine)](std::span<const History> on_kinds, policy::KindId kind) {
        return load_factor(machine, on_kinds, kind);
    };
}

}  // namespace tidemill::bridge
