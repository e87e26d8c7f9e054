#include "tidemill/dvbs2/receiver/receiver_front.hpp"

namespace tidemill::dvbs2 {

ReceiverFront add_front(Graph& graph, io::SampleSource& samples, const FrontConfig& config, bool live) {
    const RawLayout layout{samples.format(), FrontGeometry(config)};
    auto& source = graph.add<RxSource>(samples, layout, live);
    auto& spectrum = graph.add<RxSpectrum>(layout);
    auto& coarse = graph.add<RxCoarse>(layout);
    auto& filter = graph.add<RxFilter>(layout);
    auto& timing = graph.add<RxTiming>(config.rolloff);

    // Blocks of raw samples.
    graph.bind(source.raw, spectrum.raw);
    graph.bind(source.info, spectrum.info);
    graph.bind(source.raw, coarse.raw_in);
    graph.bind(source.info, coarse.info_in);
    graph.bind(spectrum.spectrum, coarse.spectrum);

    // Blocks in which there is a signal.
    graph.bind(coarse.raw, filter.raw);
    graph.bind(coarse.info, filter.info);
    graph.bind(coarse.oscillator, filter.oscillator);
    graph.bind(filter.filtered, timing.filtered_in);
    return {source, spectrum, coarse, timing};
}

double told_symbol_rate(const io::SampleSource& source, double told_hz) {
    return told_hz > 0 ? told_hz : source.sample_rate_hz().value_or(2) / 2;
}

}  // namespace tidemill::dvbs2
