#include "tidemill/dsp/rate_changer.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "tidemill/dsp/dsp_error.hpp"
#include "tidemill/dsp/low_pass.hpp"

namespace tidemill::dsp {

namespace {

// Signals that fold onto the band may be stronger than it: a neighbour of +20 dB stays 60 dB below it.
constexpr double kFoldedDb = 80;
constexpr double kStopDb = 60;
constexpr double kMostReach = 4096;

// Places are rounded to 1/1024 of a sample at least, which costs -60 dB at the band's edge.
constexpr std::size_t kResamplerPhases = 512;
// It reads whole vectors.
constexpr std::size_t kVector = 16;

// Between the band and what would fold onto it: of the lower rate's images the nearest, or of those of the
// input alone where nothing lies beyond the band.
LowPass response_of_resampler(double rate, const RateChange& change) {
    const double pass = change.pass_hz, lower = std::min(rate, change.to_hz);
    const bool is_clean = change.clean_hz > 0 && change.clean_hz <= lower - pass;
    const double stop = is_clean ? std::max(rate - change.clean_hz, lower - pass) : lower - pass;
    const LowPass response(pass / rate, stop / rate, kFoldedDb);
    if (static_cast<double>(response.reach()) > kMostReach)
        throw DspError(
            fmt::format("tuner: no room between the band ({} Hz) and its image ({} Hz)", pass, stop));
    return response;
}

}  // namespace

RateChanger::RateChanger(const RateChange& change) {
    double rate = change.from_hz;
    for (; rate >= 2 * change.to_hz; rate /= 2) {
        halves_.emplace_back(change.pass_hz / rate, kFoldedDb);
        length_ += 2 * static_cast<double>(halves_.back().delay() + 1) * change.from_hz / rate;
    }
    halved_.resize(halves_.size());
    if (rate != change.to_hz) {
        const LowPass response = response_of_resampler(rate, change);
        const std::size_t taps = 2 * response.reach();
        resampler_.emplace(PolyphaseBank(taps, kResamplerPhases, response), taps, 0, rate / change.to_hz);
        length_ += static_cast<double>(taps + kVector) * change.from_hz / rate;
    }
    if (change.stop_hz == 0 || change.stop_hz >= change.to_hz / 2) return;
    const LowPass response(change.pass_hz / change.to_hz, change.stop_hz / change.to_hz, kStopDb);
    if (static_cast<double>(response.reach()) > kMostReach)
        throw DspError(
            fmt::format("tuner: no room between the band ({} Hz) and what is to be stopped ({} Hz)",
                        change.pass_hz, change.stop_hz));
    sharp_.emplace(response.reach(), 1, response);
    wide_.resize(sharp_->history());
    length_ += 2 * static_cast<double>(response.reach()) * change.from_hz / change.to_hz;
}

void RateChanger::process(std::span<const Iq> samples, std::vector<Iq>& out) {
    if (samples.empty()) return;
    for (std::size_t i = 0; i < halves_.size(); ++i) {
        halved_[i].clear();
        halves_[i].process(samples, halved_[i]);
        samples = halved_[i];
    }
    std::vector<Iq>& to = sharp_ ? wide_ : out;
    if (resampler_) {
        resampler_->process(samples, to);
    } else {
        to.insert(to.end(), samples.begin(), samples.end());
    }
    if (sharp_) filter(out);
}

void RateChanger::finish(std::vector<Iq>& out) {
    const std::vector<Iq> silence(static_cast<std::size_t>(std::ceil(length_)));
    process(silence, out);
}

void RateChanger::filter(std::vector<Iq>& out) {
    const std::size_t count = wide_.size() - sharp_->history(), before = out.size();
    out.resize(before + count);
    sharp_->process(wide_, std::span(out).subspan(before));
    wide_.erase(wide_.begin(), wide_.begin() + static_cast<std::ptrdiff_t>(count));
}

}  // namespace tidemill::dsp
