#include "tidemill/dsp/tuner.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "tidemill/dsp/dsp_error.hpp"
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

// Between the band and what would fold onto it: of the lower rate's images the nearest, or of those of the
// input alone where nothing lies beyond the band.
Resampler resampler_of(double rate, const TunerConfig& config) {
    const double pass = config.pass_hz, lower = std::min(rate, config.output_rate_hz);
    const bool is_clean = config.clean_hz > 0 && config.clean_hz <= lower - pass;
    const double stop = is_clean ? rate - config.clean_hz : lower - pass;
    const LowPass response(pass / rate, stop / rate, kFoldedDb);
    if (static_cast<double>(response.reach()) > kMostReach)
        throw DspError(
            fmt::format("tuner: no room between the band ({} Hz) and its image ({} Hz)", pass, stop));
    const std::size_t taps = 2 * response.reach();
    return {bank_of(response, taps), taps, 0, rate / config.output_rate_hz};
}

}  // namespace

Tuner::Tuner(const TunerConfig& config) : sample_rate_hz_(config.sample_rate_hz) {
    check(config);
    if (config.removes_offset) offset_.emplace();
    tune(config.offset_hz);
    double rate = config.sample_rate_hz;
    for (; rate >= 2 * config.output_rate_hz; rate /= 2)
        halves_.emplace_back(config.pass_hz / rate, kFoldedDb);
    halved_.resize(halves_.size());
    if (rate != config.output_rate_hz) resampler_ = resampler_of(rate, config);
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

void Tuner::turn(std::span<Iq> samples) {
    if (frequency_ == 0 && phase_cycles_ == 0) return;
    rotate(samples, {phase_cycles_, frequency_, 1}, samples);
    phase_cycles_ += frequency_ * static_cast<double>(samples.size());
    phase_cycles_ -= std::floor(phase_cycles_);
}

void Tuner::process(std::span<Iq> samples, std::vector<Iq>& out) {
    if (samples.empty()) return;
    if (offset_) offset_->process(samples);
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
