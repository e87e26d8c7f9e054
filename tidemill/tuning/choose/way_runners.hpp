#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "tidemill/machine/topology.hpp"
#include "tidemill/runtime/execute/stretch.hpp"
#include "tidemill/runtime/graph/graph.hpp"
#include "tidemill/runtime/graph/structure.hpp"
#include "tidemill/tuning/choose/near_cores.hpp"
#include "tidemill/tuning/choose/run_config.hpp"

namespace tidemill {

/// Makes what runs a graph in one way or another, on the cores that may be used.
class WayRunners {
  public:
    /// All of these must outlive it; the cores of `how` are those that may be used.
    WayRunners(Graph& graph, const Structure& structure, const RunConfig& how, const Topology& topology);

    /// Throws what an executor throws that cannot run this graph.
    std::shared_ptr<StretchRunner> make(const Choice::Way& way) const;
    /// The same one each time.
    const std::shared_ptr<StretchRunner>& in_order() const { return in_order_; }

    /// Finds out what a hand-over costs, and which cores are near each other, for those made from now on.
    void measure_hand_overs();
    /// In microseconds: measured, or else as usual.
    double hand_over_us() const;
    /// Far cuts of the kinds whose cores were found to be in clusters.
    std::vector<FarCuts> far_cuts() const;

    /// Source frames that such a runner may have begun and not ended.
    std::uint64_t in_flight(const Choice::Way& way) const;

  private:
    Graph& graph_;
    const RunConfig& how_;
    const Topology& topology_;
    std::shared_ptr<StretchRunner> in_order_;
    std::optional<internal::NearCores> near_cores_{};
};

}  // namespace tidemill
