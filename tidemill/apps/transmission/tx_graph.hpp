#pragma once

#include <cstdint>
#include <vector>

#include "tidemill/apps/transmission/tx_frames.hpp"
#include "tidemill/apps/transmission/tx_output.hpp"
#include "tidemill/dvbs2/send/tx_stages.hpp"
#include "tidemill/runtime/graph/graph.hpp"

namespace tidemill::cli {

/// A transmission as a graph: frames of the inputs, symbols, samples, their bytes, the output.
class TxGraph {
  public:
    /// All that is given outlives it.
    TxGraph(TxSignal& signal, std::vector<NamedInput>& inputs, TxOutput& output,
            io::ByteWriter* copy = nullptr);

    Graph& graph() { return graph_; }
    TxFrames& frames() { return *frames_; }

    /// That the samples of a frame take.
    std::size_t bytes_of_frame() const;

    /// Behind the last frame: lets its pulses die away.
    void finish(TxOutput& output);

  private:
    const dvbs2::PulseShaper& shaper_;
    Graph graph_{"dvbs2-tx"};
    TxFrames* frames_ = nullptr;
    const dvbs2::TxTails* tails_ = nullptr;
    std::size_t most_samples_ = 0;  // of a frame
};

}  // namespace tidemill::cli
