#include "tidemill/dvbs2/receiver/band_receiver.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "tidemill/dvbs2/dvbs2_error.hpp"
#include "tidemill/dvbs2/receiver/rx_band.hpp"
#include "tidemill/dvbs2/receiver/rx_chain.hpp"

namespace tidemill::dvbs2 {

struct BandReceiver::Stages {
    Stages(io::SampleSource& source, std::vector<CarrierOfBand> carriers);
    void add(double sample_rate_hz, CarrierOfBand carrier);

    Graph graph{"dvbs2-rx"};
    RxBand& band;
    std::vector<const RxTuner*> tuners{};
    std::vector<std::unique_ptr<RxChain>> chains{};
};

BandReceiver::Stages::Stages(io::SampleSource& source, std::vector<CarrierOfBand> carriers)
    : band(graph.add<RxBand>(source, std::ranges::any_of(carriers, [](const CarrierOfBand& each) {
                                 return each.config.live;
                             }))) {
    band.spectra().set_readers(carriers.size());
    for (CarrierOfBand& carrier : carriers) add(*source.sample_rate_hz(), std::move(carrier));
}

// Stages behind a tuner are done before the next tuner comes, so that only the band passes it by.
void BandReceiver::Stages::add(double sample_rate_hz, CarrierOfBand carrier) {
    const Graph::Group group(graph, carrier.name);
    ReceiverConfig config = carrier.config;
    config.symbol_rate_hz = carrier.tuning.symbol_rate_hz;
    config.tuned_hz = carrier.tuning.offset_hz;
    config.taken_rate_hz = sample_rate_hz;
    const RawLayout layout{
        dsp::SampleFormat::cf32,
        FrontGeometry({tuned_rate_hz(sample_rate_hz, config.symbol_rate_hz), config.symbol_rate_hz,
                       config.rolloff, config.block_samples, config.live})};
    auto& tuner = graph.add<RxTuner>(sample_rate_hz, carrier.tuning, layout, band.spectra());
    graph.bind(band.place, tuner.place);
    tuners.push_back(&tuner);
    chains.push_back(std::make_unique<RxChain>(graph, RawBlocks{tuner.raw, tuner.info, layout}, config,
                                               std::move(carrier.outputs)));
}

BandReceiver::BandReceiver(io::SampleSource& source, std::vector<CarrierOfBand> carriers) {
    if (carriers.empty() || carriers.size() > kMostCarriers)
        throw Dvbs2Error(fmt::format("{} carriers cannot be received together: 1 to {} can", carriers.size(),
                                     kMostCarriers));
    stages_ = std::make_unique<Stages>(source, std::move(carriers));
}

BandReceiver::~BandReceiver() = default;

Graph& BandReceiver::graph() {
    return stages_->graph;
}

std::size_t BandReceiver::carriers() const {
    return stages_->chains.size();
}

ReceptionNow BandReceiver::now(std::size_t carrier) const {
    return stages_->chains.at(carrier)->now({.hz = followed_hz(carrier)});
}

ReceptionReport BandReceiver::report(std::size_t carrier) const {
    ReceptionReport report = stages_->chains.at(carrier)->report({.hz = followed_hz(carrier)});
    const dsp::SampleDefects& defects = stages_->band.defects();
    report.samples = stages_->band.samples();
    report.samples_clipped = defects.clipped;
    report.samples_not_finite = defects.non_finite;
    return report;
}

double BandReceiver::followed_hz(std::size_t carrier) const {
    return stages_->tuners.at(carrier)->followed_hz();
}

std::uint64_t BandReceiver::info_bits() const {
    std::uint64_t bits = 0;
    for (const auto& chain : stages_->chains) bits += chain->totals().info_bits;
    return bits;
}

}  // namespace tidemill::dvbs2
