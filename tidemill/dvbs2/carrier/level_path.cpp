#include "tidemill/dvbs2/carrier/level_path.hpp"

#include <algorithm>
#include <cmath>

#include "tidemill/base/quantile.hpp"
#include "tidemill/dsp/power_peaks.hpp"

namespace tidemill::dvbs2 {

namespace {

// The mean power of so many symbols of 32APSK scatters by a tenth.
constexpr std::size_t kLevelStretch = 64;
constexpr std::size_t kLeastLevelStretches = 24;
// Squares of neighbours' differences over squares of deviations from the mean: 2 for what is independent,
// with a deviation of 2 / sqrt(stretches).
constexpr double kIndependentRatio = 2, kRatioSigmas = 8;
constexpr double kAbruptSigmas = 6;
constexpr double kUsualChange = 0.6745;  // half of the normally distributed changes are less, in deviations

}  // namespace

void LevelPath::flatten(const Pls& pls, std::span<dsp::Iq> data, std::span<dsp::Iq> known) {
    const Modcod* modcod = find_modcod(pls.modcod);
    if (modcod == nullptr || bits_per_symbol(modcod->modulation) < 4) return;
    if (!measure(data) || !moves_slowly()) return;
    smoother_.smooth(levels_);
    scale(data, 0, 1);
    scale(known.first(kHeaderSymbols), 0, 0);
    known = known.subspan(kHeaderSymbols);
    for (double place = kPilotSpacingSymbols; !known.empty(); place += kPilotSpacingSymbols) {
        scale(known.first(kPilotBlockSymbols), place, 0);
        known = known.subspan(kPilotBlockSymbols);
    }
}

// Logarithms of the level beside their mean; false where a stretch is silent or no number.
bool LevelPath::measure(std::span<const dsp::Iq> data) {
    powers_.resize(data.size() / kLevelStretch);
    if (powers_.size() < kLeastLevelStretches) return false;
    dsp::mean_powers(data, kLevelStretch, powers_);
    if (!std::ranges::all_of(powers_, [](float power) { return power > 0 && std::isfinite(power); }))
        return false;
    levels_.clear();
    double mean = 0;
    for (const float power : powers_) {
        const double place = (static_cast<double>(levels_.size()) + 0.5) * kLevelStretch - 0.5;
        levels_.push_back({place, 0.5 * std::log(double{power}), 1});
        mean += levels_.back().phase / static_cast<double>(powers_.size());
    }
    for (PhaseSample& level : levels_) level.phase -= mean;
    return true;
}

// By neighbours' differences, which also say how far chance moves a level.
bool LevelPath::moves_slowly() {
    changes_.clear();
    double differences = 0, deviations = 0;
    for (std::size_t i = 1; i < levels_.size(); ++i) {
        const double change = levels_[i].phase - levels_[i - 1].phase;
        differences += change * change;
        deviations += levels_[i].phase * levels_[i].phase;
        changes_.push_back(static_cast<float>(std::abs(change)));
    }
    const auto stretches = static_cast<double>(levels_.size());
    if (!(differences < (kIndependentRatio - kRatioSigmas / std::sqrt(stretches)) * deviations)) return false;
    const double largest = *std::ranges::max_element(changes_);
    const double sigma = std::max(middle_value(changes_) / kUsualChange, 1e-6);
    for (PhaseSample& level : levels_) level.variance = 0.5 * sigma * sigma;
    return largest < kAbruptSigmas * sigma;
}

float LevelPath::gain_at(double place) const {
    const double first = levels_.front().place, step = kLevelStretch;
    const double at = std::clamp((place - first) / step, 0.0, static_cast<double>(levels_.size() - 1));
    const auto before = std::min(static_cast<std::size_t>(at), levels_.size() - 2);
    const double way = at - static_cast<double>(before);
    return static_cast<float>(std::exp(-std::lerp(levels_[before].phase, levels_[before + 1].phase, way)));
}

// One gain for eight symbols: the level hardly moves within them.
void LevelPath::scale(std::span<dsp::Iq> symbols, double place, double step) const {
    constexpr std::size_t kTogether = 8;
    for (std::size_t first = 0; first < symbols.size(); first += kTogether) {
        const float gain = gain_at(place + step * (static_cast<double>(first) + 0.5 * kTogether));
        for (dsp::Iq& symbol : symbols.subspan(first, std::min(kTogether, symbols.size() - first)))
            symbol *= gain;
    }
}

}  // namespace tidemill::dvbs2
