#include "tidemill/dvbs2/receiver/receiver.hpp"

#include <stdexcept>
#include <utility>

#include "tidemill/dvbs2/receiver/rx_carrier.hpp"
#include "tidemill/dvbs2/receiver/rx_decode.hpp"
#include "tidemill/dvbs2/receiver/rx_demapper.hpp"
#include "tidemill/dvbs2/receiver/rx_frames.hpp"

namespace tidemill::dvbs2 {

namespace {

RawLayout layout_of(const io::SampleSource& source, const ReceiverConfig& config) {
    const double sample_rate_hz = source.sample_rate_hz().value_or(2);
    const double symbol_rate_hz = config.symbol_rate_hz > 0 ? config.symbol_rate_hz : sample_rate_hz / 2;
    return {source.format(),
            FrontGeometry({sample_rate_hz, symbol_rate_hz, config.rolloff, config.block_samples})};
}

}  // namespace

Receiver::Receiver(io::SampleSource& source, const ReceiverConfig& config, RxOutputs outputs)
    : config_(config), scrambler_(config.gold_code) {
    const RawLayout layout = layout_of(source, config);
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

}  // namespace tidemill::dvbs2
