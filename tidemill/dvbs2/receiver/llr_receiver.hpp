#pragma once

#include <functional>
#include <memory>
#include <span>

#include "tidemill/dvbs2/receiver/receiver.hpp"
#include "tidemill/fec/llr.hpp"

namespace tidemill::dvbs2 {

/// A FECFRAME on its way to a decoder.
struct DemappedFrame {
    const FrameInfo& info;
    float esn0_db;                   ///< between -20 and 60
    std::span<const fec::Llr> llrs;  ///< n of the frame's code
    bool gap;                        ///< symbols are missing between the frame before and this one
};

/// The receiver as far as its decoder, which is elsewhere: raw samples in, soft bits out, frame by frame.
class LlrReceiver {
  public:
    /// As a Receiver; `take` is called by the one thread that runs the last task. Throws Dvbs2Error.
    LlrReceiver(io::SampleSource& source, const ReceiverConfig& config,
                std::function<void(const DemappedFrame&)> take);
    ~LlrReceiver();

    Graph& graph();
    /// What became of the symbols so far, between runs.
    const FrameSyncCounts& counts() const;

  private:
    struct Stages;

    std::unique_ptr<Stages> stages_;
};

}  // namespace tidemill::dvbs2
