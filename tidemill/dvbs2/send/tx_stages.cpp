#include "tidemill/dvbs2/send/tx_stages.hpp"

#include <algorithm>

namespace tidemill::dvbs2 {
namespace {

// Of a frame, and of what the pulses of the one before it leave in a rest.
std::size_t most_samples(std::size_t most_symbols, const PulseShaper& shaper) {
    return (most_symbols + shaper.history()) * shaper.samples_per_symbol();
}

}  // namespace

TxModulator::TxModulator(const Multiplexer& multiplexer)
    : Module("modulator"), most_symbols_(multiplexer.most_symbols()), multiplexer_(multiplexer) {}

void TxModulator::modulate_frame(Frame f) const {
    const OutgoingFrame frame{Pls::from_code(f[about].pls_code), f[bbframe]};
    multiplexer_.modulate(frame, f[symbols].resize(static_cast<std::size_t>(layout_of(frame.pls).symbols)));
}

TxTails::TxTails(std::size_t most_symbols, std::size_t history)
    : Module("tails"), most_symbols_(most_symbols), last_(history) {}

void TxTails::keep_tail(Frame f) {
    std::ranges::copy(last_, f[before].resize(last_.size()).begin());
    std::ranges::copy(f[symbols].last(last_.size()), last_.begin());
}

TxPulse::TxPulse(std::size_t most_symbols, const PulseShaper& shaper)
    : Module("pulse"),
      most_symbols_(most_symbols),
      most_samples_(most_samples(most_symbols, shaper)),
      shaper_(shaper),
      silence_(shaper.history()) {}

void TxPulse::shape_frame(Frame f) const {
    const bool behind_rest = f[about].behind_rest != 0;
    const std::size_t rest = behind_rest ? silence_.size() : 0, each = shaper_.samples_per_symbol();
    const auto all = f[samples].resize((rest + f[symbols].size()) * each);
    if (behind_rest) shaper_.shape(f[before], silence_, all.first(rest * each));
    shaper_.shape(behind_rest ? silence_ : f[before], f[symbols], all.subspan(rest * each));
}

TxBytePulse::TxBytePulse(std::size_t most_symbols, const PulseShaper& shaper, dsp::SampleFormat format,
                         float gain)
    : Module("pulse"),
      most_symbols_(most_symbols),
      most_bytes_(most_samples(most_symbols, shaper) * dsp::bytes_per_sample(format)),
      shaper_(shaper, format, gain),
      silence_(shaper.history()) {}

void TxBytePulse::shape_frame(Frame f) const {
    const bool behind_rest = f[about].behind_rest != 0;
    const std::size_t rest = behind_rest ? silence_.size() : 0, each = shaper_.bytes_per_symbol();
    const auto all = std::as_writable_bytes(f[stored].resize((rest + f[symbols].size()) * each));
    std::uint64_t limits = 0;
    if (behind_rest) limits = shaper_.shape(f[before], silence_, all.first(rest * each));
    limits += shaper_.shape(behind_rest ? silence_ : f[before], f[symbols], all.subspan(rest * each));
    f[limited][0] = limits;
}

TxStages::TxStages(Graph& graph, const Multiplexer& multiplexer, const PulseShaper& shaper,
                   const std::optional<Rounded>& rounded)
    : modulator(graph.add<TxModulator>(multiplexer)),
      tails(graph.add<TxTails>(multiplexer.most_symbols(), shaper.history())),
      most_samples(dvbs2::most_samples(multiplexer.most_symbols(), shaper)) {
    const auto bind = [&](auto& stage) {
        graph.bind(modulator.symbols, stage.symbols);
        graph.bind(tails.before, stage.before);
        return &stage;
    };
    graph.bind(modulator.symbols, tails.symbols);
    if (rounded) {
        byte_pulse =
            bind(graph.add<TxBytePulse>(multiplexer.most_symbols(), shaper, rounded->format, rounded->gain));
    } else {
        pulse = bind(graph.add<TxPulse>(multiplexer.most_symbols(), shaper));
    }
}

}  // namespace tidemill::dvbs2
