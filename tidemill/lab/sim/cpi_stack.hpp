#pragma once

#include <optional>
#include <span>
#include <vector>

#include "tidemill/scheduling/unequal/sample.hpp"
#include "tidemill/steer/layer.hpp"

namespace tidemill::bridge {

/// Assumptions of the CPI stack on the cores, for each kind.
struct CpiMachine {
    std::vector<double> capacities;  ///< how fast each kind is, in any unit; above 0, kind 0 the reference
    std::vector<double> penalty_cycles;  ///< that a last-level miss costs there, at least 0
    double scale = 1;                    ///< the paper's C, above 0: found by trying
};

/// Gain of a task by a big core, b = CPI_B / CPI: the share of its cycles in which it did not wait for
/// memory, CPI_B = CPI - CPI_S, CPI_S = misses / instructions x penalty. In steps of 0.1, so that small
/// differences are none, and at least 0.1, so that no load is 0. Nothing where no cycles were counted.
std::optional<double> big_core_benefit(std::span<const History> on_kinds,
                                       std::span<const double> penalty_cycles);

/// The paper's model: LF_ij = C x Cap_k / Cap_j x b_i / b_m, where the reference is a task that only computes
/// (b_m = 1) on kind k = 0. Its matrix has rank one: two tasks differ alike on all kinds. Always estimated,
/// since it says what a task would do where it never ran; absent without counters. Throws BridgeError where
/// the numbers cannot be.
Model cpi_stack(CpiMachine machine);

}  // namespace tidemill::bridge
