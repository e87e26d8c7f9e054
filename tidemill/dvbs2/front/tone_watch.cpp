#include "tidemill/dvbs2/front/tone_watch.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "tidemill/base/quantile.hpp"
#include "tidemill/dsp/power_spectrum.hpp"

namespace tidemill::dvbs2 {

namespace {

constexpr double kSeldomSamples = 262144;
constexpr std::uint32_t kMemoryLooks = 8;
constexpr std::uint32_t kMostLooks = 2 * kMemoryLooks;  // that are counted
// Share of a chunk's power; by chance it moves by 0.03.
constexpr double kPowerChange = 0.13;
constexpr double kUsualPowerGain = 1.0 / 8;
// Tones in samples so far below are none of the signal that has begun since.
constexpr float kLouderSignal = 30;
// So far below all that was ever there is no signal: what is left of an offset fades in silence.
constexpr float kNoSignal = 1e-5F;

// A line's power over the median beside it. In 20,000 looks at noise one bin came to 34; of two looks
// together none in 500 to 12. The lines of dummy frames add up to 4 in a bin.
constexpr double kOfOneLook = 44;
constexpr double kOfMany = 8;
constexpr double kPerLooks = 0.9;  // power of their number by which it falls from one to the other
constexpr double kStillATone = 0.5;
constexpr double kClearlyATone = 3;   // times the threshold, at zero
constexpr float kLeastShare = 5e-5F;  // of all power, in one bin: a tone of -40 dB harms nobody
constexpr float kMostAdded = 8;       // of a bin over its mean that one look adds

// In bins: what the window smears a line over, how much to either side is looked at, and the stretches in
// which nothing is looked for where nothing is a few times the mean.
constexpr std::size_t kToneWidth = 4;
constexpr std::size_t kBeside = 32;
constexpr std::size_t kGroup = 32;
constexpr double kDoubtfulShare = 0.14;  // of the threshold: 6 or less, where a tone alone has 16
constexpr double kLeastDoubtful = 3;
constexpr double kSameTone = 6;
constexpr double kOffsetWidth = 0.5;  // to each side of zero
constexpr float kNothing = 1e-30F;

std::size_t wrapped(std::size_t bin) {
    return bin % kToneBins;
}

double signed_bin(double bin) {
    return bin < kToneBins / 2 ? bin : bin - kToneBins;
}

}  // namespace

// A tone at zero is the receiver's own offset of I and Q, which is taken out elsewhere, and a weaker one
// beside it the window's smear; one that stands there clearly though that is known is neither.
bool ToneWatch::may_be_offset(std::span<const float> power, double bin, float here, bool is_clear) const {
    if (std::abs(bin) > kToneWidth) return false;
    if (std::abs(bin) < kOffsetWidth) return looks_ < kMostLooks || !is_clear;
    const auto is_more = [&](float other) { return other > here; };
    return std::ranges::any_of(power.first(kToneWidth + 1), is_more) ||
           std::ranges::any_of(power.last(kToneWidth), is_more);
}

ToneWatch::ToneWatch(const FrontGeometry& geometry)
    : seldom_(static_cast<std::int64_t>(std::ceil(kSeldomSamples / geometry.block_samples()))),
      fft_(kToneBins),
      window_(dsp::blackman_harris(kToneBins)),
      spectrum_(kToneBins),
      latest_(kToneBins),
      mean_(kToneBins) {}

bool ToneWatch::wants(const BlockSpectrum& spectrum, bool following) {
    double change = 0;
    for (const dsp::LagCorrelation& chunk : spectrum.chunk) {
        if (chunk.power <= 0) continue;
        change = usual_power_ > 0 ? std::max(change, std::abs(chunk.power / usual_power_ - 1)) : 0;
        usual_power_ += (usual_power_ > 0 ? kUsualPowerGain : 1) * (chunk.power - usual_power_);
    }
    return !following || tones_.count > 0 || looks_ < kMostLooks || change > kPowerChange ||
           spectrum.block % seldom_ == 0;
}

void ToneWatch::look(std::span<const Iq> samples, Iq offset) {
    assert(samples.size() == kToneBins);
    for (std::size_t n = 0; n < kToneBins; ++n)  // 0: never came, or blanked
        spectrum_[n] = samples[n] == Iq{} ? Iq{} : (samples[n] - offset) * window_[n];
    fft_.forward(spectrum_);
    float all = 0;
    for (std::size_t k = 0; k < kToneBins; ++k) all += latest_[k] = std::norm(spectrum_[k]);
    if (!(all > 0) || !std::isfinite(all)) return;  // silence says nothing
    loudest_ = std::max(loudest_, all);
    if (all < kNoSignal * loudest_) return void(tones_ = {});
    if (all > kLouderSignal * level_) {
        looks_ = 0;
        tones_ = {};
    }
    level_ = all;
    for (float& bin : latest_) bin /= all;
    remember();
    lines_.clear();
    find(latest_, kOfOneLook);
    find(mean_, std::max(kOfMany, kOfOneLook / std::pow(looks_, kPerLooks)));
    tones_ = {};
    for (const Line& line : lines_) {
        if (is_known(line.bin, tones_.all())) continue;
        tones_.add(signed_bin(line.bin) / kToneBins);
    }
}

// A carrier that is gone for a moment leaves noise, and where it ends its own edge, where there was nothing
// before: a few loud bins of one look would stand in the mean like lines.
void ToneWatch::remember() {
    const bool has_mean = looks_ > 0;
    looks_ = std::min(looks_ + 1, kMostLooks);
    const float gain = 1.0F / static_cast<float>(std::min(looks_, kMemoryLooks));
    for (std::size_t k = 0; k < kToneBins; ++k) {
        const float most = has_mean ? std::max(kMostAdded * mean_[k], kLeastShare) : 1;
        mean_[k] += gain * (std::min(latest_[k], most) - mean_[k]);
    }
    if (looks_ == kMemoryLooks) forget_offset();
}

// Observations before the offset was known count as those beside it.
void ToneWatch::forget_offset() {
    const float usual = beside(mean_, 0);
    std::fill_n(mean_.begin(), kToneWidth + 1, usual);
    std::fill_n(mean_.end() - kToneWidth, kToneWidth, usual);
}

// Appends the lines, the strongest first.
void ToneWatch::find(std::span<const float> power, double threshold) {
    const auto before = static_cast<std::ptrdiff_t>(lines_.size());
    for (std::size_t begin = 0; begin < kToneBins; begin += kGroup) find_in_group(power, threshold, begin);
    std::sort(lines_.begin() + before, lines_.end(),
              [](const Line& a, const Line& b) { return a.ratio > b.ratio; });
}

void ToneWatch::find_in_group(std::span<const float> power, double threshold, std::size_t begin) {
    const auto group = power.subspan(begin, kGroup);
    float most = 0, sum = 0;
    for (const float bin : group) most = std::max(most, bin), sum += bin;
    const double doubtful = std::max(kLeastDoubtful, kDoubtfulShare * threshold);
    const float least = std::max(kLeastShare, static_cast<float>(doubtful / kGroup) * sum);
    if (most < least) return;
    for (std::size_t k = begin; k < begin + kGroup; ++k) {
        const float here = power[k], left = power[wrapped(k + kToneBins - 1)], right = power[wrapped(k + 1)];
        if (here < left || here <= right || here < least) continue;
        const bool known = is_known(static_cast<double>(k), tones_.all());
        const float ratio = here / beside(power, k);
        if (!(static_cast<double>(ratio) >= (known ? kStillATone : 1) * threshold)) continue;
        // A parabola through the logarithms, which is what the window's main lobe is.
        const double a = std::log(std::max(left, kNothing)), c = std::log(std::max(right, kNothing));
        const double curvature = a - 2 * static_cast<double>(std::log(here)) + c;
        const double bin = static_cast<double>(k) + (curvature < 0 ? 0.5 * (a - c) / curvature : 0);
        const bool is_clear = static_cast<double>(ratio) >= kClearlyATone * threshold;
        if (known || !may_be_offset(power, signed_bin(bin), here, is_clear)) lines_.push_back({bin, ratio});
    }
}

// The more of both sides: at the edge of a band one of them is missing.
float ToneWatch::beside(std::span<const float> power, std::size_t bin) {
    return std::max(median_of(power, bin + kToneBins - kToneWidth - kBeside),
                    median_of(power, bin + kToneWidth + 1));
}

float ToneWatch::median_of(std::span<const float> power, std::size_t first) {
    sorted_.clear();
    for (std::size_t k = 0; k < kBeside; ++k) sorted_.push_back(power[wrapped(first + k)]);
    return middle_value(sorted_);
}

bool ToneWatch::is_known(double bin, std::span<const double> frequencies) const {
    return std::ranges::any_of(frequencies, [&](double frequency) {
        const double away = bin / kToneBins - frequency;
        return std::abs(away - std::round(away)) * kToneBins < kSameTone;
    });
}

}  // namespace tidemill::dvbs2
