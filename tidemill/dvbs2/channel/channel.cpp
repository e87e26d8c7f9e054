#include "tidemill/dvbs2/channel/channel.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <stdexcept>
#include <utility>

#include "tidemill/dsp/gaussian_noise.hpp"
#include "tidemill/dvbs2/channel/internal/interpolation.hpp"
#include "tidemill/dvbs2/dvbs2_error.hpp"

namespace tidemill::dvbs2 {
namespace {

constexpr std::uint64_t kWalkSeed = 0x77616c6b;  // sets the phase walk apart from the noise

// Of any delay: more is silence that fills the memory.
constexpr double kMostDelaySamples = 1e8;
constexpr double kMostRateRatio = 1e4;

bool has_begun_and_ends(const Dropout& dropout) {
    return dropout.begin_symbols >= 0 && dropout.symbols >= 0 &&
           std::isfinite(dropout.begin_symbols + dropout.symbols);
}

bool can_be_heard(const Echo& echo) {
    return echo.delay_symbols >= 0 && std::isfinite(echo.phase_rad) && echo.gain_db <= 40 &&
           !std::isnan(echo.gain_db);
}

bool comes_soon(double delay_symbols, const ChannelConfig& config) {
    return delay_symbols * config.samples_per_symbol <= kMostDelaySamples;
}

const ChannelConfig& checked(const ChannelConfig& config) {
    const bool all_finite = std::ranges::all_of(
        std::array{config.samples_per_symbol, config.frequency_cycles_per_symbol,
                   config.drift_cycles_per_symbol2, config.phase_rad, config.phase_noise_deg,
                   config.delay_symbols, config.clock_offset_ppm, config.rate_ratio, config.iq_gain_db,
                   config.iq_angle_deg, double{config.iq_offset.real()}, double{config.iq_offset.imag()}},
        [](double value) { return std::isfinite(value); });
    const bool in_range =
        config.samples_per_symbol >= 1.0 && config.delay_symbols >= 0.0 && config.rate_ratio >= 1.0 &&
        config.rate_ratio <= kMostRateRatio && comes_soon(config.delay_symbols, config) &&
        std::abs(config.clock_offset_ppm) < 1e5 && std::abs(config.iq_angle_deg) < 90 &&
        std::ranges::all_of(config.echoes, can_be_heard) &&
        std::ranges::all_of(config.echoes,
                            [&](const Echo& echo) { return comes_soon(echo.delay_symbols, config); }) &&
        std::ranges::all_of(config.dropouts, has_begun_and_ends) && config.disturbances.are_possible();
    if (!all_finite || !in_range || std::isnan(config.esn0_db)) {
        throw Dvbs2Error(
            "impossible channel: delays, echoes' delays and dropouts begin at 0, rate ratios and samples per "
            "symbol at 1; delays are 10^8 samples, rate ratios 10^4, echoes add 40 dB and I and Q are off by "
            "90 degrees at the most; pulses are no longer than their period, levels within 100 dB, lost "
            "samples in "
            "order; all must be numbers");
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
    if (!config.echoes.empty()) multipath_.emplace(config.echoes, config.samples_per_symbol);
    if (input_step_ != 1.0 || config.delay_symbols > 0.0) {
        resampler_ = internal::delayed(config.delay_symbols * config.samples_per_symbol, input_step_);
    }
}

void Channel::process(std::span<const dsp::Iq> in, std::vector<dsp::Iq>& out) {
    const auto before = out.size();
    out.resize(before + (samples_ == 0 ? config_.lead_samples : 0));
    const auto signal_begin = out.size();
    arrived_.clear();
    if (multipath_) {
        multipath_->process(without_dropouts(in), arrived_);
        read(arrived_, out);
    } else {
        read(without_dropouts(in), out);
    }
    turn(std::span(out).subspan(signal_begin));
    receive(out, before);
}

void Channel::finish(std::vector<dsp::Iq>& out) {
    const auto before = out.size();
    arrived_.clear();
    if (multipath_) multipath_->finish(arrived_);
    read(arrived_, out);
    if (resampler_) resampler_->finish(out);
    turn(std::span(out).subspan(before));
    out.resize(out.size() + config_.tail_samples);
    receive(out, before);
}

std::span<const dsp::Iq> Channel::without_dropouts(std::span<const dsp::Iq> in) {
    if (config_.dropouts.empty()) return in;
    sent_.assign(in.begin(), in.end());
    for (const Dropout& dropout : config_.dropouts) {
        const auto place = [&](double symbols) {
            const double sample =
                std::ceil(symbols * config_.samples_per_symbol) - static_cast<double>(taken_);
            return static_cast<std::ptrdiff_t>(std::clamp(sample, 0.0, static_cast<double>(in.size())));
        };
        std::fill(sent_.begin() + place(dropout.begin_symbols),
                  sent_.begin() + place(dropout.begin_symbols + dropout.symbols), dsp::Iq{});
    }
    taken_ += in.size();
    return sent_;
}

// By the receiver's clock.
void Channel::read(std::span<const dsp::Iq> signal, std::vector<dsp::Iq>& out) {
    if (resampler_) {
        resampler_->process(signal, out);
    } else {
        out.insert(out.end(), signal.begin(), signal.end());
    }
}

// The oscillator's angle at the next sample of the signal.
double Channel::next_angle_rad() {
    const double t = static_cast<double>(signal_samples_) * input_step_ / config_.samples_per_symbol;
    const double cycles =
        t * (config_.frequency_cycles_per_symbol + 0.5 * config_.drift_cycles_per_symbol2 * t) +
        (config_.disturbances.sweep.cycles_per_symbol != 0 ? config_.disturbances.sweep_cycles_at(t) : 0);
    if (walk_step_rad_ > 0.0) {
        // One part of the complex noise has half of its variance.
        walk_rad_ += walk_step_rad_ * std::numbers::sqrt2 *
                     dsp::gaussian_noise_at(config_.seed ^ kWalkSeed, signal_samples_).real();
    }
    ++signal_samples_;
    return 2.0 * std::numbers::pi * (cycles - std::floor(cycles)) + config_.phase_rad + walk_rad_;
}

void Channel::turn(std::span<dsp::Iq> samples) {
    const Disturbances& disturbances = config_.disturbances;
    for (auto& sample : samples) {
        if (disturbances.fading.period_symbols > 0) {
            const double t = static_cast<double>(signal_samples_) * input_step_ / config_.samples_per_symbol;
            sample *= static_cast<float>(disturbances.fading_at(t));
        }
        sample *= std::polar(1.0F, static_cast<float>(next_angle_rad()));
        sample = config_.inverted_spectrum ? std::conj(sample) : sample;
    }
}

// Noise, what else comes, and the receiver's own faults.
void Channel::receive(std::vector<dsp::Iq>& out, std::size_t begin) {
    const auto samples = std::span(out).subspan(begin);
    if (noise_amplitude_ != 0.0F) {
        dsp::add_gaussian_noise(config_.seed, samples_, noise_amplitude_, samples);
    }
    config_.disturbances.add_to(samples, samples_, config_.samples_per_symbol / input_step_, config_.seed);
    unbalance(samples);
    const std::uint64_t first = std::exchange(samples_, samples_ + samples.size());
    if (!config_.disturbances.lost.empty()) config_.disturbances.lose(out, begin, first);
}

void Channel::unbalance(std::span<dsp::Iq> samples) const {
    if (config_.iq_gain_db == 0 && config_.iq_angle_deg == 0 && config_.iq_offset == dsp::Iq{}) return;
    const auto gain = static_cast<float>(std::pow(10.0, config_.iq_gain_db / 20));
    const auto angle = static_cast<float>(config_.iq_angle_deg * std::numbers::pi / 180);
    for (dsp::Iq& x : samples) {
        x = config_.iq_offset +
            dsp::Iq(x.real(), gain * (x.imag() * std::cos(angle) + x.real() * std::sin(angle)));
    }
}

}  // namespace tidemill::dvbs2
