#pragma once

#include "tidemill/dvbs2/receiver/rx_front.hpp"
#include "tidemill/dvbs2/receiver/rx_source.hpp"
#include "tidemill/io/live/sample_source.hpp"
#include "tidemill/runtime/graph/graph.hpp"

namespace tidemill::dvbs2 {

/// Where blocks of raw samples come from, as RxSource gives them.
struct RawBlocks {
    Out<std::byte> raw;
    Out<RawInfo> info;
    RawLayout layout;
};

/// Stages behind the raw samples: blocks of symbols come out.
struct FrontStages {
    const RxSpectrum& spectrum;
    const RxCoarse& coarse;
    const RxFilter& filter;
    const RxTiming& timing;  ///< gives out `symbols`, and `info` beside them
};

/// The front of a receiver as it stands in a graph: raw samples in, blocks of symbols out.
struct ReceiverFront : FrontStages {
    const RxSource& source;
};

/// Adds the stages behind raw blocks to a graph and binds them.
FrontStages add_front_stages(Graph& graph, const RawBlocks& blocks);

/// Adds the stages of the front to a graph and binds them. `samples` must outlive the graph. Throws
/// Dvbs2Error for rates or a roll-off that cannot work.
ReceiverFront add_front(Graph& graph, io::SampleSource& samples, const FrontConfig& config);

}  // namespace tidemill::dvbs2
