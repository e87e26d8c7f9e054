#pragma once

#include <optional>

#include "tidemill/platform/core_distance.hpp"
#include "tidemill/platform/topology.hpp"
#include "tidemill/schedule/schedule.hpp"

namespace tidemill::internal {

/// How far the cores of a machine are from each other now, and what follows for pipelines: what a hand-over
/// costs, and which cores neighbouring stages get.
class NearCores {
  public:
    /// Measures between the first `cores` of each kind, three milliseconds a pair and 20 in all at most.
    static NearCores measured(const Topology& topology, const Platform& cores);

    /// As if measured: per kind of the topology, between its cores.
    NearCores(const Topology& topology, std::vector<CoreDistances> of_kinds);

    /// A token goes there, and its room comes back: the mean trip between neighbours in the row. Nothing
    /// where nothing was measured.
    std::optional<double> hand_over_us() const { return hand_over_us_; }

    /// Names the cores of kinds that the schedule leaves open, in a row in which neighbours are near; only
    /// where some are clearly farther from each other than others.
    void place(Schedule& schedule) const;

  private:
    std::vector<CoreResource> rows_;
    std::optional<double> hand_over_us_{};
};

}  // namespace tidemill::internal
