#include "tidemill/dvbs2/receiver/receiver_front.hpp"

namespace tidemill::dvbs2 {

FrontStages add_front_stages(Graph& graph, const RawBlocks& blocks) {
    auto& spectrum = graph.add<RxSpectrum>(blocks.layout);
    auto& coarse = graph.add<RxCoarse>(blocks.layout);
    auto& filter = graph.add<RxFilter>(blocks.layout);
    auto& timing = graph.add<RxTiming>(blocks.layout.geometry);

    // Blocks of raw samples.
    graph.bind(blocks.raw, spectrum.raw);
    graph.bind(blocks.info, spectrum.info);
    graph.bind(blocks.raw, coarse.raw_in);
    graph.bind(blocks.info, coarse.info_in);
    graph.bind(spectrum.spectrum, coarse.spectrum);

    // Blocks in which there is a signal.
    graph.bind(coarse.raw, filter.raw);
    graph.bind(coarse.info, filter.info);
    graph.bind(coarse.oscillator, filter.oscillator);
    graph.bind(filter.filtered, timing.filtered_in);
    return {spectrum, coarse, filter, timing};
}

ReceiverFront add_front(Graph& graph, io::SampleSource& samples, const FrontConfig& config) {
    const RawLayout layout{samples.format(), FrontGeometry(config)};
    auto& source = graph.add<RxSource>(samples, layout);
    return {add_front_stages(graph, {source.raw, source.info, layout}), source};
}

}  // namespace tidemill::dvbs2
