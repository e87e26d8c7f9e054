#include "tidemill/dsp/tuner.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "tidemill/dsp/dsp_error.hpp"
#include "tidemill/dsp/iq_balance.hpp"
#include "tidemill/dsp/low_pass.hpp"
#include "tidemill/dsp/rotator.hpp"

namespace tidemill::dsp {

namespace {

// What folds onto the band may be stronger than it: a neighbour of +20 dB stays 60 dB below it.
constexpr double kFoldedDb = 80;
constexpr double kStopDb = 60;
constexpr double kMostRatio = 1 << 20;
constexpr double kMostReach = 4096;

// Places are rounded to 1/1024 of a sample at least, which costs -60 dB at the band's edge.
constexpr std::size_t kTunerPhases = 512;

// Samples over which an offset (DC) is averaged: as long as it takes a carrier across it to show less.
constexpr double kOffsetMemory = 1 << 20;

void check(const TunerConfig& c) {
    const auto refuse = [](const std::string& what) { throw DspError("tuner: " + what); };
    if (!(c.sample_rate_hz > 0 && c.output_rate_hz > 0 && c.pass_hz > 0)) refuse("rates must be above 0");
    if (c.sample_rate_hz / c.output_rate_hz > kMostRatio)
        refuse(fmt::format("{} Hz is more than 2^20 times {} Hz", c.sample_rate_hz, c.output_rate_hz));
    const double room = std::min(c.sample_rate_hz, c.output_rate_hz);
    if (2 * c.pass_hz >= room)
        refuse(fmt::format("a band of {} Hz does not fit into {} Hz", 2 * c.pass_hz, room));
    if (c.stop_hz != 0 && c.stop_hz <= c.pass_hz)
        refuse(fmt::format("no room between the band ({} Hz) and what is to be stopped ({} Hz)", c.pass_hz,
                           c.stop_hz));
}

PolyphaseBank bank_of(const LowPass& response, std::size_t taps) {
    return {taps, kTunerPhases, response};
}

// Between the band and what would fold onto it: of the lower rate's images the nearest.
Resampler resampler_of(double rate, double output_rate, double pass) {
    const LowPass response(pass / rate, (std::min(rate, output_rate) - pass) / rate, kFoldedDb);
    if (static_cast<double>(response.reach()) > kMostReach)
        throw DspError(fmt::format("tuner: no room between the band ({} Hz) and its image ({} Hz)", pass,
                                   std::min(rate, output_rate) - pass));
    const std::size_t taps = 2 * response.reach();
    return {bank_of(response, taps), taps, 0, rate / output_rate};
}

}  // namespace

Tuner::Tuner(const TunerConfig& config) : sample_rate_hz_(config.sample_rate_hz) {
    check(config);
    tune(config.offset_hz);
    double rate = config.sample_rate_hz;
    for (; rate >= 2 * config.output_rate_hz; rate /= 2)
        halves_.emplace_back(config.pass_hz / rate, kFoldedDb);
    halved_.resize(halves_.size());
    if (rate != config.output_rate_hz) resampler_ = resampler_of(rate, config.output_rate_hz, config.pass_hz);
    if (config.stop_hz == 0 || config.stop_hz >= config.output_rate_hz / 2) return;
    const LowPass response(config.pass_hz / config.output_rate_hz, config.stop_hz / config.output_rate_hz,
                           kStopDb);
    if (static_cast<double>(response.reach()) > kMostReach)
        throw DspError(
            fmt::format("tuner: no room between the band ({} Hz) and what is to be stopped ({} Hz)",
                        config.pass_hz, config.stop_hz));
    sharp_.emplace(response.reach(), 1, response);
    wide_.resize(sharp_->history());
}

void Tuner::tune(double offset_hz) {
    frequency_ = -offset_hz / sample_rate_hz_;
}

// The mean of all samples at first, then of the latest.
void Tuner::take_out_offset(std::span<Iq> samples) {
    const IqMoments moments = iq_moments(samples);
    offset_samples_ = std::min(offset_samples_ + moments.count, std::max(kOffsetMemory, moments.count));
    offset_ += (moments.sum - moments.count * offset_) / offset_samples_;
    correct_iq(samples, {.offset = Iq(offset_)}, samples);
}

void Tuner::turn(std::span<Iq> samples) {
    if (frequency_ == 0 && phase_cycles_ == 0) return;
    rotate(samples, {phase_cycles_, frequency_, 1}, samples);
    phase_cycles_ += frequency_ * static_cast<double>(samples.size());
    phase_cycles_ -= std::floor(phase_cycles_);
}

void Tuner::process(std::span<Iq> samples, std::vector<Iq>& out) {
    if (samples.empty()) return;
    take_out_offset(samples);
    turn(samples);
    std::span<const Iq> rest = samples;
    for (std::size_t i = 0; i < halves_.size(); ++i) {
        halved_[i].clear();
        halves_[i].process(rest, halved_[i]);
        rest = halved_[i];
    }
    std::vector<Iq>& to = sharp_ ? wide_ : out;
    if (resampler_) {
        resampler_->process(rest, to);
    } else {
        to.insert(to.end(), rest.begin(), rest.end());
    }
    if (sharp_) filter(out);
}

void Tuner::filter(std::vector<Iq>& out) {
    const std::size_t count = wide_.size() - sharp_->history(), before = out.size();
    out.resize(before + count);
    sharp_->process(wide_, std::span(out).subspan(before));
    wide_.erase(wide_.begin(), wide_.begin() + static_cast<std::ptrdiff_t>(count));
}

}  // namespace tidemill::dsp
