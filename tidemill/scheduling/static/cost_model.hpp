#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tidemill/scheduling/static/chain.hpp"

namespace tidemill {

/// How the cores of one kind behave beyond the published model: the power of a core with and without a thread
/// of the schedule on it, and what makes it slower.
struct KindCosts {
    std::string kind;
    double busy_w = 0;
    double idle_w = 0;
    std::vector<double> slowdown{};  // weights times this with 1, 2, ... busy cores; the last holds beyond
    std::optional<double> shared_slowdown{};  // two stages may share a core, where weights are times this

    bool operator==(const KindCosts&) const = default;
};

/// The memory policy by which something of a size comes fastest to a device and back, as was measured.
struct FastestMemory {
    std::string device;  ///< its id and name, and its driver: "cuda:0 NVIDIA H100 (driver 580)"
    std::size_t bytes = 0;
    std::string policy;

    bool operator==(const FastestMemory&) const = default;
};

/// The cores of a kind where not all are near each other: clusters, within which they are, and what a cut
/// between two clusters costs the stages on both sides beyond one within a cluster.
struct FarCuts {
    std::string kind;
    std::vector<std::vector<int>> clusters{};  // cores, by hwloc's logical numbers
    double hop_us = 0;
    double byte_us = 0;  // for each byte that crosses it

    bool operator==(const FarCuts&) const = default;
};

/// Costs of schedules beyond their tasks' weights. All of it is off by default, which is the published model.
struct CostModel {
    double stage_us = 0;                 // of every stage and execution
    double hop_us = 0;                   // of every cut, for the stages on both sides
    double byte_us = 0;                  // likewise, for each byte that crosses it
    std::vector<double> bytes_at_cut{};  // after each task but the last; none: as the chain says
    std::vector<KindCosts> kinds{};
    std::vector<FastestMemory> memory{};  ///< of devices, by size; no period depends on it
    std::vector<FarCuts> far_cuts{};  ///< of this machine now: for schedules that say which cores they use

    bool operator==(const CostModel&) const = default;

    /// Whether periods are those of the published model, wherever threads sit; power does not matter for
    /// that.
    bool has_published_periods() const;

    /// Whether any kind has a power.
    bool has_power() const;

    /// Costs of a kind: all defaults when none are given.
    KindCosts kind(std::string_view name) const;

    /// Cost in µs of a cut after `task`, counted from 0, for each of the two stages.
    double cut_us(std::size_t task) const;

    /// Cost for each of them beyond that where they sit in two clusters.
    double far_cut_us(std::size_t task, const FarCuts& far) const;
};

/// The model with the bytes at cuts that the chain has itself, unless it has its own.
CostModel with_bytes_of(const Chain& chain, CostModel model);

/// How many times longer weights on a kind take when so many of its cores are busy; 1 where nothing is said.
double slowdown(const KindCosts& kind, int busy_cores);

/// Throws ScheduleError unless every number is finite and at least 0, busy power at least idle power,
/// slowdowns at least 1 and never falling, each kind named once and known to the chain, bytes given for each
/// cut or none, each core in one cluster.
void check(const CostModel& model, const Chain& chain);

/// Reads "big=1.0,little=0.25", or "big=1.0/0.1" with the power of an idle core; throws ScheduleError on
/// anything else and on a kind given twice.
std::vector<KindCosts> parse_watts(std::string_view text);

}  // namespace tidemill
