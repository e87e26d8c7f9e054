#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "tidemill/machine/core_distance.hpp"
#include "tidemill/machine/topology.hpp"
#include "tidemill/scheduling/static/cost_model.hpp"
#include "tidemill/scheduling/static/schedule.hpp"

namespace tidemill::internal {

/// How far cores, indices into Topology::cores, are from each other, as core_distances() finds out: in so
/// many seconds at most, and with so many bytes; empty where it could not.
using MeasureDistances =
    std::function<CoreDistances(std::span<const std::size_t> cores, double seconds, std::size_t bytes)>;

/// How far the cores of a machine are from each other now, and what follows for pipelines: what a hand-over
/// costs, near and far, and which cores neighbouring stages get.
class NearCores {
  public:
    /// Measures between the first `cores` of each kind, three milliseconds a pair and 20 a kind at most.
    /// Where there are more than ten, clusters are the topology's, and one core of each, of nine at most, is
    /// measured; others are as far as these are in the mean. Where some are far, what bytes cost there takes
    /// 20 more.
    static NearCores measured(const Topology& topology, const Platform& cores);

    /// The same, measured in that way.
    static NearCores measured(const Topology& topology, const Platform& cores,
                              const MeasureDistances& measure);

    /// As if measured: per kind of the topology, between its cores.
    NearCores(const Topology& topology, const std::vector<CoreDistances>& of_kinds);

    /// A token goes there, and its room comes back: the mean trip between neighbours in the row that are
    /// near. Nothing where nothing was measured.
    std::optional<double> hand_over_us() const { return hand_over_us_; }

    /// Far cuts of the kinds whose cores are in clusters: clearly farther from some than from others.
    const std::vector<FarCuts>& far_cuts() const { return far_cuts_; }

    /// The same of those whose cores a schedule leaves open: what it names is to stay, whatever follows it.
    std::vector<FarCuts> far_cuts_beside(const Schedule& given) const;

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
