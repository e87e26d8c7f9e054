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
    : symbol_rate_hz_(symbol_rate_of(source, config)), scrambler_(config.gold_code) {
    const RawLayout layout{
        source.format(), FrontGeometry({source.sample_rate_hz().value_or(2), symbol_rate_hz_, config.rolloff,
                                        config.block_samples})};
    source_ = &graph_.add<RxSource>(source, layout);
    spectrum_ = &graph_.add<RxSpectrum>(layout);
    coarse_ = &graph_.add<RxCoarse>(layout);
    auto& filter = graph_.add<RxFilter>(layout);
    timing_ = &graph_.add<RxTiming>(config.rolloff);
    frame_sync_ = &graph_.add<RxFrameSync>(scrambler_);
    auto& carrier = graph_.add<RxCarrier>(scrambler_);
    auto& demapper = graph_.add<RxDemapper>();
    auto& ldpc = graph_.add<RxLdpc>();
    auto& bch = graph_.add<RxBch>();
    auto& descrambler = graph_.add<RxDescrambler>();
    sink_ = &graph_.add<RxSink>(std::move(outputs));

    // Blocks of raw samples.
    graph_.bind(source_->raw, spectrum_->raw);
    graph_.bind(source_->info, spectrum_->info);
    graph_.bind(source_->raw, coarse_->raw_in);
    graph_.bind(source_->info, coarse_->info_in);
    graph_.bind(spectrum_->spectrum, coarse_->spectrum);

    // Blocks in which there is a signal.
    graph_.bind(coarse_->raw, filter.raw);
    graph_.bind(coarse_->info, filter.info);
    graph_.bind(coarse_->oscillator, filter.oscillator);
    graph_.bind(filter.filtered, timing_->filtered_in);
    graph_.bind(coarse_->info, timing_->info_in);

    // Blocks whose symbol clock is known.
    graph_.bind(timing_->symbols, frame_sync_->symbols);
    graph_.bind(timing_->info, frame_sync_->block);

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
    return {.found = coarse_->found(),
            .locked = frame_sync_->locked(),
            .totals = totals,
            .symbol_rate_hz = symbol_rate_hz_,
            .frequency_hz = (coarse_->frequency() + left) * symbol_rate_hz_,
            .clock_ppm = timing_->clock_ppm(),
            .iq_offset_db = coarse_->iq_offset_db(),
            .iq_image_db = coarse_->iq_image_db(),
            .samples_clipped = spectrum_->live_clipped()};
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
    report.samples = source_->samples();
    report.samples_not_finite = spectrum_->defects().non_finite;
    report.blocks_without_signal = coarse_->dropped_blocks();
    report.blocks_without_clock = timing_->dropped_blocks();
    return report;
}

}  // namespace tidemill::dvbs2
