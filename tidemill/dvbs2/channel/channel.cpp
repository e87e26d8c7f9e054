#include "tidemill/dvbs2/channel/channel.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include <fmt/format.h>

#include "tidemill/dsp/gaussian_noise.hpp"
#include "tidemill/dvbs2/channel/channel_values.hpp"
#include "tidemill/dvbs2/channel/internal/interpolation.hpp"
#include "tidemill/dvbs2/dvbs2_error.hpp"

namespace tidemill::dvbs2 {
namespace {

constexpr std::size_t kSteadySamples = 256;
constexpr double kMostClockPpm = 1e5;
constexpr std::uint64_t kWalkSeed = 0x77616c6b;  // sets the phase walk apart from the noise

ChannelConfig checked(ChannelConfig config) {
    if (const auto wrong = first_impossible(config))
        throw Dvbs2Error(fmt::format("a channel's {} is {:.9g}: give one {}", wrong->field, wrong->value,
                                     in_words(wrong->limits)));
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
    if (!config.phase_mask.empty())
        phase_noise_.emplace(config.phase_mask, config.samples_per_symbol / input_step_, config.seed);
    if (input_step_ != 1.0 || config.delay_symbols > 0.0 || config.clock_drift_ppm_per_symbol != 0.0) {
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
    if (config_.clock_drift_ppm_per_symbol != 0.0) {
        read_drifting(signal, out);
    } else if (resampler_) {
        resampler_->process(signal, out);
    } else {
        out.insert(out.end(), signal.begin(), signal.end());
    }
}

// A clock that drifts has one rate for a few samples.
void Channel::read_drifting(std::span<const dsp::Iq> signal, std::vector<dsp::Iq>& out) {
    while (!signal.empty()) {
        const std::size_t count = std::min(signal.size(), kSteadySamples - read_ % kSteadySamples);
        const double t = static_cast<double>(read_) / config_.samples_per_symbol;
        const double ppm = std::clamp(config_.clock_offset_ppm + config_.clock_drift_ppm_per_symbol * t,
                                      -kMostClockPpm, kMostClockPpm);
        if (read_ % kSteadySamples == 0)
            resampler_->set_step(1.0 / (config_.rate_ratio * (1.0 + 1e-6 * ppm)));
        resampler_->process(signal.first(count), out);
        signal = signal.subspan(count);
        read_ += count;
    }
}

// The oscillator's angle at the next sample of the signal.
double Channel::next_angle_rad() {
    const double t = static_cast<double>(signal_samples_) * input_step_ / config_.samples_per_symbol;
    const double cycles =
        t * (config_.frequency_cycles_per_symbol + 0.5 * config_.drift_cycles_per_symbol2 * t) +
        config_.disturbances.cycles_at(t);
    if (walk_step_rad_ > 0.0) {
        // One part of the complex noise has half of its variance.
        walk_rad_ += walk_step_rad_ * std::numbers::sqrt2 *
                     dsp::gaussian_noise_at(config_.seed ^ kWalkSeed, signal_samples_).real();
    }
    const double noise_rad = phase_noise_ ? phase_noise_->at(signal_samples_) : 0.0;
    ++signal_samples_;
    return 2.0 * std::numbers::pi * (cycles - std::floor(cycles)) + config_.phase_rad + walk_rad_ + noise_rad;
}

void Channel::turn(std::span<dsp::Iq> samples) {
    const Disturbances& disturbances = config_.disturbances;
    for (auto& sample : samples) {
        if (disturbances.fading) {
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
