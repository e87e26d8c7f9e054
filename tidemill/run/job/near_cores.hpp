#pragma once

#include <optional>
#include <vector>

#include "tidemill/platform/core_distance.hpp"
#include "tidemill/platform/topology.hpp"
#include "tidemill/schedule/cost_model.hpp"
#include "tidemill/schedule/schedule.hpp"

namespace tidemill::internal {

/// How far the cores of a machine are from each other now, and what follows for pipelines: what a hand-over
/// costs, near and far, and which cores neighbouring stages get.
class NearCores {
  public:
    /// Measures between the first `cores` of each kind, three milliseconds a pair and 20 a kind at most.
    /// Where that is too short for all pairs, clusters are the topology's, and one core of each is measured.
    /// Where some are far, what bytes cost there takes 20 more.
    static NearCores measured(const Topology& topology, const Platform& cores);

    /// As if measured: per kind of the topology, between its cores.
    NearCores(const Topology& topology, const std::vector<CoreDistances>& of_kinds);

    /// A token goes there, and its room comes back: the mean trip between neighbours in the row that are
    /// near. Nothing where nothing was measured.
    std::optional<double> hand_over_us() const { return hand_over_us_; }

    /// Of the kinds whose cores are in clusters: clearly farther from some than from others.
    const std::vector<FarCuts>& far_cuts() const { return far_cuts_; }

    /// Names the cores of kinds that the schedule leaves open, in a row in which neighbours are near; only
    /// where some are clearly farther from each other than others.
    void place(Schedule& schedule) const;

  private:
    void add_kind(const Topology& topology, const CoreKind& kind, const CoreDistances& distances,
                  const std::vector<std::vector<std::size_t>>& groups);

    std::vector<CoreResource> rows_;
    std::vector<FarCuts> far_cuts_;
    std::optional<double> hand_over_us_{};
};

}  // namespace tidemill::internal
