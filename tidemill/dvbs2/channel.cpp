#include "tidemill/dvbs2/channel.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <stdexcept>

#include "tidemill/dsp/gaussian_noise.hpp"

namespace tidemill::dvbs2 {
namespace {

constexpr std::size_t kTaps = 64;
// The nearest phase is taken: timing noise 70 dB below a signal at 0.3 of the sample rate.
constexpr std::size_t kPhases = 2048;
constexpr std::uint64_t kWalkSeed = 0x77616c6b;  // sets the phase walk apart from the noise

// Sinc under a four-term Blackman-Harris window (Harris 1978: side lobes 92 dB down).
double interpolation_kernel(double t) {
    if (std::abs(t) >= kTaps / 2.0) {
        return 0.0;
    }
    const double x = std::numbers::pi * t;
    const double sinc = std::abs(x) < 1e-9 ? 1.0 : std::sin(x) / x;
    const double u = 2.0 * x / kTaps;
    return sinc * (0.35875 + 0.48829 * std::cos(u) + 0.14128 * std::cos(2 * u) + 0.01168 * std::cos(3 * u));
}

const dsp::PolyphaseBank& interpolation_bank() {
    static const dsp::PolyphaseBank bank(kTaps, kPhases, interpolation_kernel);
    return bank;
}

const ChannelConfig& checked(const ChannelConfig& config) {
    const bool all_finite = std::ranges::all_of(
        std::array{config.samples_per_symbol, config.frequency_cycles_per_symbol,
                   config.drift_cycles_per_symbol2, config.phase_rad, config.phase_noise_deg,
                   config.delay_symbols, config.clock_offset_ppm, config.rate_ratio},
        [](double value) { return std::isfinite(value); });
    const bool in_range = config.samples_per_symbol >= 1.0 && config.delay_symbols >= 0.0 &&
                          config.rate_ratio >= 1.0 && std::abs(config.clock_offset_ppm) < 1e5;
    if (!all_finite || !in_range || std::isnan(config.esn0_db)) {
        throw std::invalid_argument(
            "impossible channel: delays begin at 0, rate ratios and samples per symbol at 1, all must be "
            "numbers");
    }
    return config;
}

}  // namespace

Channel::Channel(const ChannelConfig& config)
    : config_(checked(config)),
      input_step_(1.0 / (config.rate_ratio * (1.0 + 1e-6 * config.clock_offset_ppm))),
      // At power 1 a symbol has as much energy as there are samples in it.
      noise_amplitude_(static_cast<float>(
          std::sqrt(config.samples_per_symbol / input_step_ * std::pow(10.0, -config.esn0_db / 10.0)))),
      walk_step_rad_(config.phase_noise_deg * std::numbers::pi / 180.0 *
                     std::sqrt(input_step_ / config.samples_per_symbol / 1000.0)) {
    if (input_step_ != 1.0 || config.delay_symbols > 0.0) {
        resampler_.emplace(interpolation_bank(), kTaps, -config.delay_symbols * config.samples_per_symbol,
                           input_step_);
    }
}

void Channel::process(std::span<const dsp::Iq> in, std::vector<dsp::Iq>& out) {
    const auto before = out.size();
    out.resize(before + (samples_ == 0 ? config_.lead_samples : 0));
    const auto signal_begin = out.size();
    if (resampler_) {
        resampler_->process(in, out);
    } else {
        out.insert(out.end(), in.begin(), in.end());
    }
    turn(std::span(out).subspan(signal_begin));
    add_noise(std::span(out).subspan(before));
}

void Channel::finish(std::vector<dsp::Iq>& out) {
    const auto before = out.size();
    if (resampler_) {
        resampler_->finish(out);
    }
    turn(std::span(out).subspan(before));
    out.resize(out.size() + config_.tail_samples);
    add_noise(std::span(out).subspan(before));
}

// The oscillator's angle at the next sample of the signal.
double Channel::next_angle_rad() {
    const double t = static_cast<double>(signal_samples_) * input_step_ / config_.samples_per_symbol;
    const double cycles =
        t * (config_.frequency_cycles_per_symbol + 0.5 * config_.drift_cycles_per_symbol2 * t);
    if (walk_step_rad_ > 0.0) {
        // One part of the complex noise has half of its variance.
        walk_rad_ += walk_step_rad_ * std::numbers::sqrt2 *
                     dsp::gaussian_noise_at(config_.seed ^ kWalkSeed, signal_samples_).real();
    }
    ++signal_samples_;
    return 2.0 * std::numbers::pi * (cycles - std::floor(cycles)) + config_.phase_rad + walk_rad_;
}

void Channel::turn(std::span<dsp::Iq> samples) {
    for (auto& sample : samples) {
        sample *= std::polar(1.0F, static_cast<float>(next_angle_rad()));
        sample = config_.inverted_spectrum ? std::conj(sample) : sample;
    }
}

void Channel::add_noise(std::span<dsp::Iq> samples) {
    if (noise_amplitude_ != 0.0F) {
        dsp::add_gaussian_noise(config_.seed, samples_, noise_amplitude_, samples);
    }
    samples_ += samples.size();
}

}  // namespace tidemill::dvbs2
