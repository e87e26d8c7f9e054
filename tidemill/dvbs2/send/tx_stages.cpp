#include "tidemill/dvbs2/send/tx_stages.hpp"

#include <algorithm>

namespace tidemill::dvbs2 {
namespace {

// Most samples of a frame, and of what the pulses of the one before it leave in a rest.
std::size_t most_samples(std::size_t most_symbols, const PulseShaper& shaper) {
    return (most_symbols + shaper.history()) * shaper.samples_per_symbol();
}

// Symbols of a frame, and of silence before them behind a rest.
std::size_t shaped_symbols(const TxFrame& about, std::size_t silence, std::size_t symbols) {
    return (about.behind_rest != 0 ? silence : 0) + symbols;
}

// Calls shape(before, some, at) for these: `at` were shaped before. Silence comes first behind a rest.
template <class Shape>
void shape_behind_rest(const TxFrame& about, std::span<const dsp::Iq> before,
                       std::span<const dsp::Iq> silence, std::span<const dsp::Iq> symbols, Shape shape) {
    if (about.behind_rest == 0) return shape(before, symbols, 0);
    shape(before, silence, 0);
    shape(silence, symbols, silence.size());
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
    const std::size_t each = shaper_.samples_per_symbol();
    const auto all = f[samples].resize(each * shaped_symbols(f[about], silence_.size(), f[symbols].size()));
    shape_behind_rest(f[about], f[before], silence_, f[symbols],
                      [&](auto earlier, auto some, std::size_t at) {
                          shaper_.shape(earlier, some, all.subspan(at * each, some.size() * each));
                      });
}

TxBytePulse::TxBytePulse(std::size_t most_symbols, const PulseShaper& shaper, dsp::SampleFormat format,
                         float gain)
    : Module("pulse"),
      most_symbols_(most_symbols),
      most_bytes_(most_samples(most_symbols, shaper) * dsp::bytes_per_sample(format)),
      shaper_(shaper, format, gain),
      silence_(shaper.history()) {}

void TxBytePulse::shape_frame(Frame f) const {
    const std::size_t each = shaper_.bytes_per_symbol();
    const auto all = std::as_writable_bytes(
        f[stored].resize(each * shaped_symbols(f[about], silence_.size(), f[symbols].size())));
    f[limited][0] = 0;
    shape_behind_rest(
        f[about], f[before], silence_, f[symbols], [&](auto earlier, auto some, std::size_t at) {
            f[limited][0] += shaper_.shape(earlier, some, all.subspan(at * each, some.size() * each));
        });
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
