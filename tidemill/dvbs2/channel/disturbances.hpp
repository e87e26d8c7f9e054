#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "tidemill/dsp/iq.hpp"

namespace tidemill::dvbs2 {

/// Bursts of white noise, as of a radar or an ignition. Times are in symbols, levels in dB over the signal's
/// power.
struct Pulses {
    double every_symbols = 0.0;
    double symbols = 0.0;  // of each, one sample at the least
    double gain_db = 0.0;
    bool at_random_places = false;  // one within each `every_symbols`
};

/// A line in the spectrum.
struct Tone {
    double cycles_per_symbol = 0.0;
    double gain_db = 0.0;  // over the signal
    double drift_cycles_per_symbol2 = 0.0;
};

/// The receiver's gain, that of signal and noise, goes up and down in turn.
struct GainSteps {
    double every_symbols = 0.0;
    double gain_db = 0.0;
};

/// The signal alone becomes stronger and weaker: a sine, in dB.
struct Fading {
    double period_symbols = 0.0;
    double gain_db = 0.0;  // to each side
};

/// A satellite's pass: the frequency goes from one end to the other as tanh does.
struct Sweep {
    double cycles_per_symbol = 0.0;  // to each side; falling where it is positive
    double symbols = 1.0;            // in which it goes three quarters of the way to one side
    double middle_symbols = 0.0;
};

/// An oscillator that warms up: its frequency begins off its final value and settles exponentially.
struct WarmUp {
    double cycles_per_symbol = 0.0;  // off the final value at first
    double symbols = 1.0;            // time constant
};

/// The receiver's gain, that of signal and noise, becomes larger and smaller: a sine, in dB.
struct GainRipple {
    double period_symbols = 0.0;
    double gain_db = 0.0;  // to each side
};

/// Samples that the receiver lost, from a sample of its output on.
struct LostSamples {
    std::uint64_t begin = 0;
    std::uint64_t samples = 0;
};

/// Signals that come to a receiver beside signal and noise.
struct Disturbances {
    std::optional<Pulses> pulses{};
    std::vector<Tone> tones{};
    std::optional<GainSteps> steps{};
    std::optional<Fading> fading{};
    std::optional<Sweep> sweep{};
    std::vector<LostSamples> lost{};
    std::optional<WarmUp> warm_up{};
    std::optional<GainRipple> gain_ripple{};

    /// The signal's amplitude at a time in symbols.
    double fading_at(double symbols) const;
    /// Turns of the carrier since time 0, by the sweep and the warming up.
    double cycles_at(double symbols) const;
    /// Adds pulses and tones to received samples, of which the first is number `first`, and scales them.
    void add_to(std::span<dsp::Iq> samples, std::uint64_t first, double samples_per_symbol,
                std::uint64_t seed) const;
    /// Takes away what was lost of the samples from `first` on, in `received` from `begin` on.
    void lose(std::vector<dsp::Iq>& received, std::size_t begin, std::uint64_t first) const;

  private:
    double sweep_cycles_at(double symbols) const;
    double warm_up_cycles_at(double symbols) const;
    double gain_at(double symbols) const;
};

}  // namespace tidemill::dvbs2
