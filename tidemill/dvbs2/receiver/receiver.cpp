#include "tidemill/dvbs2/receiver/receiver.hpp"

#include <utility>

#include "tidemill/dvbs2/receiver/rx_chain.hpp"

namespace tidemill::dvbs2 {

namespace {

static_assert(ReceiverConfig::kMostBlockSamples == kMaxBlockSamples);

ReceiverConfig with_symbol_rate(const io::SampleSource& source, ReceiverConfig config) {
    if (!(config.symbol_rate_hz > 0)) config.symbol_rate_hz = source.sample_rate_hz().value_or(2) / 2;
    return config;
}

RawLayout raw_layout_of(const io::SampleSource& source, const ReceiverConfig& config) {
    return {source.format(), FrontGeometry({source.sample_rate_hz().value_or(2), config.symbol_rate_hz,
                                            config.rolloff, config.block_samples, config.live})};
}

}  // namespace

struct Receiver::Stages {
    Stages(io::SampleSource& samples, const ReceiverConfig& config, RxOutputs outputs)
        : given(samples),
          layout(raw_layout_of(samples, config)),
          source(graph.add<RxSource>(samples, layout, config.live)),
          chain(graph, {source.raw, source.info, layout}, config, std::move(outputs), &samples) {}

    const io::SampleSource& given;
    Graph graph{"dvbs2-rx"};
    RawLayout layout;
    RxSource& source;
    RxChain chain;
};

Receiver::Receiver(io::SampleSource& source, const ReceiverConfig& config, RxOutputs outputs)
    : stages_(std::make_unique<Stages>(source, with_symbol_rate(source, config), std::move(outputs))) {}

Receiver::~Receiver() = default;

const LdpcDeviceUse& Receiver::ldpc_device_use() const {
    return stages_->chain.ldpc_device_use();
}

Graph& Receiver::graph() {
    return stages_->graph;
}

ReceptionNow Receiver::now() const {
    return stages_->chain.now(stages_->given.moved());
}

ReceptionReport Receiver::report() const {
    ReceptionReport report = stages_->chain.report(stages_->given.moved());
    report.samples = stages_->source.samples();
    return report;
}

const FrameTotals& Receiver::totals() const {
    return stages_->chain.totals();
}

}  // namespace tidemill::dvbs2
