#include "tidemill/dvbs2/send/tx_stages.hpp"

#include <algorithm>

#include "tidemill/io/quantize.hpp"

namespace tidemill::dvbs2 {

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
      most_samples_((most_symbols + shaper.history()) * shaper.samples_per_symbol()),
      shaper_(shaper) {}

// A rest begins where the last pulse has died away.
void TxPulse::shape_frame(Frame f) const {
    const std::vector<dsp::Iq> silence(shaper_.history());
    const bool behind_rest = f[about].behind_rest != 0;
    const std::size_t rest = behind_rest ? silence.size() * shaper_.samples_per_symbol() : 0;
    const auto all = f[samples].resize(rest + f[symbols].size() * shaper_.samples_per_symbol());
    if (behind_rest) shaper_.shape(f[before], silence, all.first(rest));
    shaper_.shape(behind_rest ? silence : f[before], f[symbols], all.subspan(rest));
}

TxRounding::TxRounding(std::size_t most_samples, dsp::SampleFormat format, float gain)
    : Module("rounding"),
      most_samples_(most_samples),
      most_bytes_(most_samples * dsp::bytes_per_sample(format)),
      format_(format),
      gain_(gain) {}

void TxRounding::round_samples(Frame f) const {
    const auto bytes = f[stored].resize(f[samples].size() * dsp::bytes_per_sample(format_));
    f[limited][0] = io::quantize(f[samples], gain_, format_, std::as_writable_bytes(bytes));
}

TxStages::TxStages(Graph& graph, const Multiplexer& multiplexer, const PulseShaper& shaper,
                   const std::optional<Rounded>& rounded)
    : modulator(graph.add<TxModulator>(multiplexer)),
      tails(graph.add<TxTails>(multiplexer.most_symbols(), shaper.history())),
      pulse(graph.add<TxPulse>(multiplexer.most_symbols(), shaper)) {
    graph.bind(modulator.symbols, tails.symbols);
    graph.bind(modulator.symbols, pulse.symbols);
    graph.bind(tails.before, pulse.before);
    if (!rounded) return;
    rounding = &graph.add<TxRounding>(pulse.most_samples(), rounded->format, rounded->gain);
    graph.bind(pulse.samples, rounding->samples);
}

}  // namespace tidemill::dvbs2
