#include "tidemill/dvbs2/receiver/rx_chain.hpp"

#include <algorithm>
#include <utility>

#include "tidemill/dvbs2/receiver/rx_carrier.hpp"
#include "tidemill/dvbs2/receiver/rx_decode.hpp"
#include "tidemill/dvbs2/receiver/rx_demapper.hpp"
#include "tidemill/dvbs2/receiver/rx_equaliser.hpp"
#include "tidemill/dvbs2/receiver/rx_frames.hpp"
#include "tidemill/dvbs2/receiver/rx_sink.hpp"

namespace tidemill::dvbs2 {

RxChain::RxChain(Graph& graph, const RawBlocks& blocks, const ReceiverConfig& config, RxOutputs outputs,
                 const io::SampleSource* source)
    : symbol_rate_hz_(config.symbol_rate_hz),
      sample_rate_hz_(blocks.layout.geometry.samples_per_symbol() * config.symbol_rate_hz),
      tuned_hz_(config.tuned_hz),
      block_s_(blocks.layout.geometry.block_samples() / sample_rate_hz_),
      scrambler_(config.gold_code),
      front_(add_front_stages(graph, blocks)),
      frame_sync_(graph.add<RxFrameSync>(scrambler_, config.live)),
      equaliser_(graph.add<RxEqualiser>(scrambler_)) {
    auto& carrier = graph.add<RxCarrier>(scrambler_);
    auto& demapper = graph.add<RxDemapper>();
    auto& ldpc = graph.add<RxLdpc>(fec::LdpcSettings{}, config.ldpc_device, config.short_of_time);
    auto& bch = graph.add<RxBch>();
    auto& descrambler = graph.add<RxDescrambler>();
    const double taken_hz = config.taken_rate_hz > 0 ? config.taken_rate_hz : sample_rate_hz_;
    std::function<double(double)> seconds_at;
    if (source)
        seconds_at = [source, sps = blocks.layout.geometry.samples_per_symbol()](double place) {
            return source->seconds_at(place * sps);
        };
    auto& sink = graph.add<RxSink>(
        std::move(outputs), SampleRates{symbol_rate_hz_, taken_hz / symbol_rate_hz_}, std::move(seconds_at));
    ldpc_ = &ldpc;
    sink_ = &sink;

    // Blocks whose symbol clock is known.
    graph.bind(front_.timing.symbols, frame_sync_.symbols);

    // PLFRAMEs.
    graph.bind(frame_sync_.frame, equaliser_.frame);
    graph.bind(frame_sync_.gap, equaliser_.gap);
    graph.bind(frame_sync_.frame, carrier.frame);
    graph.bind(equaliser_.taps, carrier.taps);
    graph.bind(carrier.data, demapper.data);
    graph.bind(carrier.quality, demapper.quality);
    graph.bind(demapper.llrs, ldpc.llrs);
    graph.bind(ldpc.codeword, bch.codeword);
    graph.bind(bch.codeword, descrambler.codeword);
    graph.bind(descrambler.codeword, sink.codeword);
    graph.bind(frame_sync_.gap, sink.gap);
    graph.bind(equaliser_.taps, sink.taps);
    graph.bind(carrier.quality, sink.quality);
    graph.bind(ldpc.result, sink.ldpc);
    graph.bind(bch.result, sink.bch);
}

std::vector<double> RxChain::in_hertz(const ToneList& tones, const io::BandMove& moved) const {
    std::vector<double> hertz;
    for (const double frequency : tones.all())
        hertz.push_back(tuned_hz_ + moved.hz + frequency * sample_rate_hz_ * moved.rate);
    std::ranges::sort(hertz);
    return hertz;
}

Clockless RxChain::in_seconds(const ClocklessBlocks& blocks) const {
    return {static_cast<double>(blocks.first) * block_s_, static_cast<double>(blocks.count) * block_s_};
}

ReceptionNow RxChain::describe(const FrameTotals& totals, const io::BandMove& moved) const {
    // Frequency that the front took out, and what the last good frame, derotated, still had; before the first
    // what the front takes out now.
    const double left = totals.inverted ? -totals.frequency : totals.frequency;
    const ObservedEcho echo = equaliser_.echo().value_or(ObservedEcho{});
    const double front = totals.frames_good() > 0 ? totals.front_frequency : front_.coarse.frequency();
    const double symbol_rate_hz = symbol_rate_hz_ * moved.rate;
    const double hz_per_s = symbol_rate_hz * symbol_rate_hz;
    // Frames show what is received: after a move the last one is another signal's.
    const bool has_frames = moved.at_s == 0 || totals.end_s > moved.at_s;
    return {.found = front_.coarse.found(),
            // Frames are followed by their symbols: while there are none, what was followed is past.
            .locked = has_frames && front_.coarse.found() && front_.timing.locked() && frame_sync_.locked(),
            .locks = frame_sync_.locks(),
            .totals = totals,
            .symbol_rate_hz = symbol_rate_hz,
            .frequency_hz = tuned_hz_ + moved.hz + (front + left) * symbol_rate_hz,
            .drift_hz_per_s = (totals.inverted ? -totals.drift : totals.drift) * hz_per_s,
            .largest_drift_hz_per_s = totals.largest_drift * hz_per_s,
            .clock_ppm = front_.timing.clock_ppm(),
            .iq_offset_db = front_.coarse.iq_offset_db(),
            .iq_image_db = front_.coarse.iq_image_db(),
            .samples_clipped = front_.spectrum.live_clipped(),
            .samples_blanked = front_.filter.blanked_samples(),
            .blanked_share = front_.filter.blanked_share(),
            .frames_hurried = ldpc_->hurried(),
            .frames_equalised = equaliser_.frames(),
            .echo_symbols = echo.symbols,
            .echo_db = echo.gain_db,
            .clockless = in_seconds(front_.timing.clockless()),
            .tones_hz = in_hertz(front_.coarse.tones(), moved)};
}

ReceptionNow RxChain::now(const io::BandMove& moved) const {
    return describe(sink_->totals_so_far(), moved);
}

ReceptionReport RxChain::report(const io::BandMove& moved) const {
    const StreamSorter& streams = sink_->streams();
    ReceptionReport report;
    static_cast<ReceptionNow&>(report) = describe(sink_->totals(), moved);
    report.tones_hz = in_hertz(front_.coarse.last_tones(), moved);
    report.sync = frame_sync_.counts();
    report.packets = streams.counts();
    report.frames_by_fault = streams.frames_by_fault();
    report.frames_of_streams = streams.frames_of_streams();
    report.generic_frames = streams.generic_frames();
    report.generic_bytes = streams.generic_bytes();
    report.samples_not_finite = front_.spectrum.defects().non_finite;
    report.blocks_without_signal = front_.coarse.dropped_blocks();
    report.blocks_without_clock = front_.timing.dropped_blocks();
    return report;
}

const LdpcDeviceUse& RxChain::ldpc_device_use() const {
    return ldpc_->device_use();
}

const FrameTotals& RxChain::totals() const {
    return sink_->totals();
}

}  // namespace tidemill::dvbs2
