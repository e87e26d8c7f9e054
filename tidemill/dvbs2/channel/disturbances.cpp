#include "tidemill/dvbs2/channel/disturbances.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "tidemill/dsp/gaussian_noise.hpp"

namespace tidemill::dvbs2 {

namespace {

constexpr std::uint64_t kPulseSeed = 0x70756c73;  // sets pulses and their places apart from the noise
constexpr std::uint64_t kPlaceSeed = 0x706c6163;

double amplitude_of(double db) {
    return std::pow(10.0, db / 20);
}

double part_of(double x) {
    return x - std::floor(x);
}

// Amplitude of a level that goes up and down as a sine in dB.
double sine_gain(double db, double turns) {
    return amplitude_of(db * std::sin(2 * std::numbers::pi * part_of(turns)));
}

// A number between 0 and 1 that depends on seed and n alone.
double chance_at(std::uint64_t seed, std::uint64_t n) {
    const dsp::Iq noise = dsp::gaussian_noise_at(seed ^ kPlaceSeed, n);
    return part_of(std::atan2(double{noise.imag()}, double{noise.real()}) / (2 * std::numbers::pi) + 1);
}

bool is_in_pulse(const Pulses& pulses, double symbols, double sample_symbols, std::uint64_t seed) {
    const double turn = std::floor(symbols / pulses.every_symbols);
    const double length = std::max(pulses.symbols, sample_symbols);
    const double room = pulses.every_symbols - length;
    const double begin =
        pulses.at_random_places ? room * chance_at(seed, static_cast<std::uint64_t>(turn)) : 0.5 * room;
    const double place = symbols - turn * pulses.every_symbols - begin;
    return place >= 0 && place < length;
}

}  // namespace

double Disturbances::fading_at(double symbols) const {
    return fading ? sine_gain(fading->gain_db, symbols / fading->period_symbols) : 1;
}

double Disturbances::cycles_at(double symbols) const {
    return sweep_cycles_at(symbols) + warm_up_cycles_at(symbols);
}

// The integral of the exponential.
double Disturbances::warm_up_cycles_at(double symbols) const {
    if (!warm_up) return 0;
    return -warm_up->cycles_per_symbol * warm_up->symbols * std::expm1(-symbols / warm_up->symbols);
}

// The receiver's gain, by steps and ripple.
double Disturbances::gain_at(double symbols) const {
    const bool is_stepped = steps && std::fmod(symbols, 2 * steps->every_symbols) >= steps->every_symbols;
    const double stepped = is_stepped ? amplitude_of(steps->gain_db) : 1;
    return gain_ripple ? stepped * sine_gain(gain_ripple->gain_db, symbols / gain_ripple->period_symbols)
                       : stepped;
}

// The integral of -tanh, written so that it does not overflow.
double Disturbances::sweep_cycles_at(double symbols) const {
    if (!sweep) return 0;
    const auto log_cosh = [&](double t) {
        const double x = std::abs((t - sweep->middle_symbols) / sweep->symbols);
        return x + std::log1p(std::exp(-2 * x));
    };
    return -sweep->cycles_per_symbol * sweep->symbols * (log_cosh(symbols) - log_cosh(0));
}

void Disturbances::add_to(std::span<dsp::Iq> samples, std::uint64_t first, double samples_per_symbol,
                          std::uint64_t seed) const {
    if (!pulses && tones.empty() && !steps && !gain_ripple) return;
    const auto pulse = static_cast<float>(pulses ? amplitude_of(pulses->gain_db) : 0);
    for (std::size_t i = 0; i < samples.size(); ++i) {
        const double t = static_cast<double>(first + i) / samples_per_symbol;
        if (pulses && is_in_pulse(*pulses, t, 1 / samples_per_symbol, seed))
            samples[i] += pulse * dsp::gaussian_noise_at(seed ^ kPulseSeed, first + i);
        for (const Tone& tone : tones) {
            const double cycles = t * (tone.cycles_per_symbol + 0.5 * tone.drift_cycles_per_symbol2 * t);
            samples[i] +=
                dsp::Iq(std::polar(amplitude_of(tone.gain_db), 2 * std::numbers::pi * part_of(cycles)));
        }
        if (steps || gain_ripple) samples[i] *= static_cast<float>(gain_at(t));
    }
}

void Disturbances::lose(std::vector<dsp::Iq>& received, std::size_t begin, std::uint64_t first) const {
    std::size_t kept = begin;
    for (std::size_t i = begin; i < received.size(); ++i) {
        const std::uint64_t number = first + (i - begin);
        const bool is_lost = std::ranges::any_of(lost, [&](const LostSamples& gap) {
            return number >= gap.begin && number - gap.begin < gap.samples;
        });
        if (!is_lost) received[kept++] = received[i];
    }
    received.resize(kept);
}

}  // namespace tidemill::dvbs2
