#pragma once

#include "tidemill/dvbs2/send/multiplexer.hpp"
#include "tidemill/dvbs2/send/pulse_shaper.hpp"
#include "tidemill/runtime/graph/graph.hpp"

namespace tidemill::cli {

/// A transmitter as a graph, for measuring: random data by the stages of `dvbs2 tx` to short PLFRAMEs of QPSK
/// 8/9, and these to samples that nobody keeps.
class BenchTransmitter {
  public:
    BenchTransmitter();

    Graph& graph() { return graph_; }
    /// Energy of all samples: so that none of them was for nothing.
    float energy() const { return energy_; }

  private:
    dvbs2::Multiplexer multiplexer_;
    dvbs2::PulseShaper shaper_;
    float energy_ = 0;
    Graph graph_{"transmitter"};
};

}  // namespace tidemill::cli
