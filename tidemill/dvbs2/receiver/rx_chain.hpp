#pragma once

#include <cstdint>
#include <vector>

#include "tidemill/dvbs2/receiver/receiver.hpp"
#include "tidemill/dvbs2/receiver/receiver_front.hpp"
#include "tidemill/dvbs2/receiver/reception_report.hpp"
#include "tidemill/dvbs2/standard/pl_scrambler.hpp"
#include "tidemill/runtime/graph/graph.hpp"

namespace tidemill::dvbs2 {

class RxEqualiser;
class RxFrameSync;
class RxLdpc;
class RxSink;

/// The stages of a receiver in a graph, from blocks of raw samples to packets, and their reports. It stays
/// where it is while the graph lives.
class RxChain {
  public:
    /// A chain for a known symbol rate in `config`. Throws Dvbs2Error for a roll-off or gold code that cannot
    /// be. `source`: of the samples, which knows when each was received; null: by their rate.
    RxChain(Graph& graph, const RawBlocks& blocks, const ReceiverConfig& config, RxOutputs outputs,
            const io::SampleSource* source = nullptr);
    RxChain(const RxChain&) = delete;
    RxChain& operator=(const RxChain&) = delete;

    /// Its state and account so far, of a band that has been moved; any thread may ask while it runs.
    ReceptionNow now(const io::BandMove& moved) const;
    /// The whole account but for what only the source of samples knows; between runs.
    ReceptionReport report(const io::BandMove& moved) const;

    const LdpcDeviceUse& ldpc_device_use() const;
    const FrameTotals& totals() const;

  private:
    ReceptionNow describe(const FrameTotals& totals, const io::BandMove& moved) const;

    std::vector<double> in_hertz(const ToneList& tones, const io::BandMove& moved) const;
    Clockless in_seconds(const ClocklessBlocks& blocks) const;

    double symbol_rate_hz_;
    double sample_rate_hz_;
    double tuned_hz_;
    double block_s_;
    PlScrambler scrambler_;
    FrontStages front_;
    const RxFrameSync& frame_sync_;
    const RxEqualiser& equaliser_;
    const RxLdpc* ldpc_ = nullptr;
    const RxSink* sink_ = nullptr;
};

}  // namespace tidemill::dvbs2
