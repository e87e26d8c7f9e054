#include "tidemill/dvbs2/send/transmitter.hpp"

#include "tidemill/dvbs2/send/frame_modulator.hpp"
#include "tidemill/dvbs2/send/multiplexer.hpp"
#include "tidemill/dvbs2/send/pulse_shaper.hpp"

namespace tidemill::dvbs2 {
namespace {

void append(std::span<const dsp::Iq> some, std::vector<dsp::Iq>& samples) {
    samples.insert(samples.end(), some.begin(), some.end());
}

}  // namespace

struct Transmitter::Stages {
    explicit Stages(const TransmitterConfig& config)
        : pls(config.pls),
          multiplexer({.plan = {{config.pls}}, .gold_code = config.gold_code, .rolloff = config.rolloff}),
          shaper(config.samples_per_symbol, config.rolloff) {}

    Pls pls;
    Multiplexer multiplexer;
    PulseShaper shaper;
    std::vector<dsp::Iq> symbols{};
};

Transmitter::Transmitter(const TransmitterConfig& config) : stages_(std::make_unique<Stages>(config)) {}

Transmitter::Transmitter(Transmitter&&) noexcept = default;

Transmitter::~Transmitter() = default;

void Transmitter::modulate(std::span<const std::uint8_t> packets, std::vector<dsp::Iq>& symbols) {
    stages_->multiplexer.feed(0, packets);
    while (stages_->multiplexer.send(symbols)) {
    }
}

void Transmitter::transmit(std::span<const std::uint8_t> packets, std::vector<dsp::Iq>& samples) {
    std::vector<dsp::Iq>& symbols = stages_->symbols;
    symbols.clear();
    modulate(packets, symbols);
    append(stages_->shaper.process(symbols), samples);
}

void Transmitter::finish(std::vector<dsp::Iq>& samples) {
    std::vector<dsp::Iq>& symbols = stages_->symbols;
    symbols.clear();
    while (stages_->multiplexer.send_padded(symbols)) {
    }
    append(stages_->shaper.process(symbols), samples);
    append(stages_->shaper.finish(), samples);
}

const FrameModulator& Transmitter::modulator() const {
    return stages_->multiplexer.modulator(stages_->pls);
}

std::uint64_t Transmitter::frames() const {
    return stages_->multiplexer.counts().frames;
}

}  // namespace tidemill::dvbs2
