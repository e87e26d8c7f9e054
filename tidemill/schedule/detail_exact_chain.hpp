#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tidemill/schedule/chain.hpp"
#include "tidemill/schedule/detail_ratio.hpp"

namespace tidemill::detail {

/// A core kind that the platform has: its cores, and the sums of the first 0..n weights in whole units.
struct ExactKind {
    std::size_t chain_kind = 0;
    int cores = 0;
    std::vector<std::uint64_t> prefix;
};

/// A chain in exact integers, on the kinds that have cores, in the order in which they are to be spared.
struct ExactChain {
    std::size_t size = 0;
    std::vector<ExactKind> kinds;
    /// run_begin[j]: where the replicable run that ends with task j-1 begins; j itself if that task is
    /// sequential.
    std::vector<std::size_t> run_begin;
    double units_per_us = 1;

    /// Weight of tasks [begin, end) on one core of a kind, in units.
    std::uint64_t sum(std::size_t kind, std::size_t begin, std::size_t end) const {
        return kinds[kind].prefix[end] - kinds[kind].prefix[begin];
    }

    /// Whether all tasks of [begin, end) are replicable.
    bool replicable(std::size_t begin, std::size_t end) const { return run_begin[end] <= begin; }

    /// Cores of all kinds.
    std::uint64_t total_cores() const;
};

/// Scales decimal weights to integers without rounding; throws ScheduleError when one needs more than 2^53
/// units, when sums leave 62 bits, when the platform has no cores, or one of a kind that the chain does not
/// weigh.
ExactChain exact_chain(const Chain& chain, const Platform& platform);

}  // namespace tidemill::detail
