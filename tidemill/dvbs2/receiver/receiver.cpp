#include "tidemill/dvbs2/receiver/receiver.hpp"

#include <stdexcept>
#include <utility>

#include "tidemill/dvbs2/receiver/rx_carrier.hpp"
#include "tidemill/dvbs2/receiver/rx_decode.hpp"
#include "tidemill/dvbs2/receiver/rx_demapper.hpp"
#include "tidemill/dvbs2/receiver/rx_frames.hpp"

namespace tidemill::dvbs2 {

namespace {

double symbol_rate_of(const io::SampleSource& source, const ReceiverConfig& config) {
    return config.symbol_rate_hz > 0 ? config.symbol_rate_hz : source.sample_rate_hz().value_or(2) / 2;
}

}  // namespace

Receiver::Receiver(io::SampleSource& source, const ReceiverConfig& config, RxOutputs outputs)
    : symbol_rate_hz_(symbol_rate_of(source, config)),
      scrambler_(config.gold_code),
      front_(add_front(
          graph_, source,
          {source.sample_rate_hz().value_or(2), symbol_rate_hz_, config.rolloff, config.block_samples})) {
    frame_sync_ = &graph_.add<RxFrameSync>(scrambler_);
    auto& carrier = graph_.add<RxCarrier>(scrambler_);
    auto& demapper = graph_.add<RxDemapper>();
    auto& ldpc = graph_.add<RxLdpc>();
    auto& bch = graph_.add<RxBch>();
    auto& descrambler = graph_.add<RxDescrambler>();
    sink_ = &graph_.add<RxSink>(std::move(outputs));

    // Blocks whose symbol clock is known.
    graph_.bind(front_.timing.symbols, frame_sync_->symbols);
    graph_.bind(front_.timing.info, frame_sync_->block);

    // PLFRAMEs.
    graph_.bind(frame_sync_->frame, carrier.frame);
    graph_.bind(carrier.data, demapper.data);
    graph_.bind(carrier.quality, demapper.quality);
    graph_.bind(demapper.llrs, ldpc.llrs);
    graph_.bind(ldpc.codeword, bch.codeword);
    graph_.bind(bch.codeword, descrambler.codeword);
    graph_.bind(descrambler.codeword, sink_->codeword);
    for (const auto& info :
         {carrier.info, demapper.info, ldpc.info, bch.info, descrambler.info, sink_->info}) {
        graph_.bind(frame_sync_->info, info);
    }
    graph_.bind(frame_sync_->gap, sink_->gap);
    graph_.bind(carrier.quality, sink_->quality);
    graph_.bind(ldpc.result, sink_->ldpc);
    graph_.bind(bch.result, sink_->bch);
}

Receiver::~Receiver() = default;

ReceptionNow Receiver::now() const {
    return describe(sink_->totals_so_far());
}

ReceptionNow Receiver::describe(const FrameTotals& totals) const {
    // What the front took out, and what the frames, turned upright, still had.
    const double left = totals.inverted ? -totals.frequency : totals.frequency;
    return {.found = front_.coarse.found(),
            .locked = frame_sync_->locked(),
            .totals = totals,
            .symbol_rate_hz = symbol_rate_hz_,
            .frequency_hz = (front_.coarse.frequency() + left) * symbol_rate_hz_,
            .clock_ppm = front_.timing.clock_ppm(),
            .iq_offset_db = front_.coarse.iq_offset_db(),
            .iq_image_db = front_.coarse.iq_image_db(),
            .samples_clipped = front_.spectrum.live_clipped()};
}

ReceptionReport Receiver::report() const {
    const StreamSorter& streams = sink_->streams();
    ReceptionReport report;
    static_cast<ReceptionNow&>(report) = describe(sink_->totals());
    report.sync = frame_sync_->counts();
    report.packets = streams.counts();
    report.frames_by_fault = streams.frames_by_fault();
    report.frames_of_streams = streams.frames_of_streams();
    report.generic_frames = streams.generic_frames();
    report.samples = front_.source.samples();
    report.samples_not_finite = front_.spectrum.defects().non_finite;
    report.blocks_without_signal = front_.coarse.dropped_blocks();
    report.blocks_without_clock = front_.timing.dropped_blocks();
    return report;
}

}  // namespace tidemill::dvbs2
