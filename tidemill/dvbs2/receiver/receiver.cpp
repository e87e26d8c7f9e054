#include "tidemill/dvbs2/receiver/receiver.hpp"

#include <stdexcept>
#include <utility>

#include "tidemill/dvbs2/receiver/receiver_front.hpp"
#include "tidemill/dvbs2/receiver/rx_carrier.hpp"
#include "tidemill/dvbs2/receiver/rx_decode.hpp"
#include "tidemill/dvbs2/receiver/rx_demapper.hpp"
#include "tidemill/dvbs2/receiver/rx_frames.hpp"
#include "tidemill/dvbs2/receiver/rx_sink.hpp"
#include "tidemill/dvbs2/standard/pl_scrambler.hpp"
#include "tidemill/dvbs2/tuner/tuned_source.hpp"

namespace tidemill::dvbs2 {

namespace {

static_assert(ReceiverConfig{}.block_samples == kMaxBlockSamples);

}  // namespace

struct Receiver::Stages {
    Stages(io::SampleSource& source, const ReceiverConfig& config, RxOutputs outputs);

    ReceptionNow describe(const FrameTotals& totals) const;
    ReceptionReport report() const;

    double symbol_rate_hz;
    double tuned_hz;
    const TunedSource* tuned;  // null: the samples come as they are
    PlScrambler scrambler;
    Graph graph{"dvbs2-rx"};
    ReceiverFront front;
    RxFrameSync* frame_sync = nullptr;
    RxLdpc* ldpc_decoder = nullptr;
    RxSink* sink = nullptr;
};

Receiver::Stages::Stages(io::SampleSource& source, const ReceiverConfig& config, RxOutputs outputs)
    : symbol_rate_hz(told_symbol_rate(source, config.symbol_rate_hz)),
      tuned_hz(config.tuned_hz),
      tuned(dynamic_cast<const TunedSource*>(&source)),
      scrambler(config.gold_code),
      front(add_front(
          graph, source,
          {source.sample_rate_hz().value_or(2), symbol_rate_hz, config.rolloff, config.block_samples},
          config.live)) {
    frame_sync = &graph.add<RxFrameSync>(scrambler);
    auto& carrier = graph.add<RxCarrier>(scrambler);
    auto& demapper = graph.add<RxDemapper>();
    ldpc_decoder = &graph.add<RxLdpc>(fec::LdpcSettings{}, config.ldpc_device);
    auto& ldpc = *ldpc_decoder;
    auto& bch = graph.add<RxBch>();
    auto& descrambler = graph.add<RxDescrambler>();
    sink = &graph.add<RxSink>(std::move(outputs));

    // Blocks whose symbol clock is known.
    graph.bind(front.timing.symbols, frame_sync->symbols);

    // PLFRAMEs.
    graph.bind(frame_sync->frame, carrier.frame);
    graph.bind(carrier.data, demapper.data);
    graph.bind(carrier.quality, demapper.quality);
    graph.bind(demapper.llrs, ldpc.llrs);
    graph.bind(ldpc.codeword, bch.codeword);
    graph.bind(bch.codeword, descrambler.codeword);
    graph.bind(descrambler.codeword, sink->codeword);
    graph.bind(frame_sync->gap, sink->gap);
    graph.bind(carrier.quality, sink->quality);
    graph.bind(ldpc.result, sink->ldpc);
    graph.bind(bch.result, sink->bch);
}

ReceptionNow Receiver::Stages::describe(const FrameTotals& totals) const {
    // What the front took out, and what the frames, turned upright, still had.
    const double left = totals.inverted ? -totals.frequency : totals.frequency;
    const double followed_hz = tuned ? tuned->followed_hz() : 0;
    return {.found = front.coarse.found(),
            .locked = frame_sync->locked(),
            .totals = totals,
            .symbol_rate_hz = symbol_rate_hz,
            .frequency_hz = tuned_hz + followed_hz + (front.coarse.frequency() + left) * symbol_rate_hz,
            .clock_ppm = front.timing.clock_ppm(),
            .iq_offset_db = front.coarse.iq_offset_db(),
            .iq_image_db = front.coarse.iq_image_db(),
            .samples_clipped = front.spectrum.live_clipped()};
}

ReceptionReport Receiver::Stages::report() const {
    const StreamSorter& streams = sink->streams();
    ReceptionReport report;
    static_cast<ReceptionNow&>(report) = describe(sink->totals());
    report.sync = frame_sync->counts();
    report.packets = streams.counts();
    report.frames_by_fault = streams.frames_by_fault();
    report.frames_of_streams = streams.frames_of_streams();
    report.generic_frames = streams.generic_frames();
    report.samples = front.source.samples();
    report.samples_not_finite = front.spectrum.defects().non_finite;
    report.blocks_without_signal = front.coarse.dropped_blocks();
    report.blocks_without_clock = front.timing.dropped_blocks();
    return report;
}

Receiver::Receiver(io::SampleSource& source, const ReceiverConfig& config, RxOutputs outputs)
    : stages_(std::make_unique<Stages>(source, config, std::move(outputs))) {}

Receiver::~Receiver() = default;

const LdpcDeviceUse& Receiver::ldpc_device_use() const {
    return stages_->ldpc_decoder->device_use();
}

Graph& Receiver::graph() {
    return stages_->graph;
}

ReceptionNow Receiver::now() const {
    return stages_->describe(stages_->sink->totals_so_far());
}

ReceptionReport Receiver::report() const {
    return stages_->report();
}

const FrameTotals& Receiver::totals() const {
    return stages_->sink->totals();
}

}  // namespace tidemill::dvbs2
