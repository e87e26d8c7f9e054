#include "tidemill/dvbs2/receiver/llr_receiver.hpp"

#include <utility>

#include "tidemill/dvbs2/receiver/receiver_front.hpp"
#include "tidemill/dvbs2/receiver/rx_carrier.hpp"
#include "tidemill/dvbs2/receiver/rx_decode.hpp"
#include "tidemill/dvbs2/receiver/rx_demapper.hpp"
#include "tidemill/dvbs2/receiver/rx_equaliser.hpp"
#include "tidemill/dvbs2/receiver/rx_frames.hpp"
#include "tidemill/dvbs2/standard/pl_scrambler.hpp"

namespace tidemill::dvbs2 {

namespace {

/// Gives soft bits away.
class RxLlrSink final : public Module {
  public:
    explicit RxLlrSink(std::function<void(const DemappedFrame&)> take)
        : Module("llr_sink"), take_(std::move(take)) {}

    In<fec::Llr> llrs = in<fec::Llr>("llrs", kMaxFecframeBits);
    Label<const FrameInfo> info = label<const FrameInfo>("info");
    In<std::uint8_t> gap = in<std::uint8_t>("gap");
    In<SignalQuality> quality = in<SignalQuality>("quality");
    Task give = task("give", &RxLlrSink::give_frame);

  private:
    void give_frame(Frame f) {
        const fec::Dvbs2Code* const code = code_of(f[info].pls);
        if (!code) return;
        take_({f[info], f[quality][0].esn0_db(), f[llrs].first(static_cast<std::size_t>(code->n)),
               f[gap][0] != 0});
    }

    std::function<void(const DemappedFrame&)> take_;
};

}  // namespace

struct LlrReceiver::Stages {
    Stages(io::SampleSource& source, const ReceiverConfig& config,
           std::function<void(const DemappedFrame&)> take)
        : scrambler(config.gold_code),
          front(
              add_front(graph, source,
                        {source.sample_rate_hz().value_or(2), told_symbol_rate(source, config.symbol_rate_hz),
                         config.rolloff, config.block_samples},
                        config.live)) {
        frame_sync = &graph.add<RxFrameSync>(scrambler, config.live);
        auto& equaliser = graph.add<RxEqualiser>(scrambler);
        auto& carrier = graph.add<RxCarrier>(scrambler);
        auto& demapper = graph.add<RxDemapper>();
        auto& sink = graph.add<RxLlrSink>(std::move(take));
        graph.bind(front.timing.symbols, frame_sync->symbols);
        graph.bind(frame_sync->frame, equaliser.frame);
        graph.bind(frame_sync->gap, equaliser.gap);
        graph.bind(frame_sync->frame, carrier.frame);
        graph.bind(equaliser.taps, carrier.taps);
        graph.bind(carrier.data, demapper.data);
        graph.bind(carrier.quality, demapper.quality);
        graph.bind(demapper.llrs, sink.llrs);
        graph.bind(frame_sync->gap, sink.gap);
        graph.bind(carrier.quality, sink.quality);
    }

    PlScrambler scrambler;
    Graph graph{"dvbs2-rx-llrs"};
    ReceiverFront front;
    RxFrameSync* frame_sync = nullptr;
};

LlrReceiver::LlrReceiver(io::SampleSource& source, const ReceiverConfig& config,
                         std::function<void(const DemappedFrame&)> take)
    : stages_(std::make_unique<Stages>(source, config, std::move(take))) {}

LlrReceiver::~LlrReceiver() = default;

Graph& LlrReceiver::graph() {
    return stages_->graph;
}

const FrameSyncCounts& LlrReceiver::counts() const {
    return stages_->frame_sync->counts();
}

}  // namespace tidemill::dvbs2
