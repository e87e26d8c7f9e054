#include "tidemill/dvbs2/front/agc_steps.hpp"

#include <algorithm>
#include <cmath>
#include <complex>

#include "tidemill/dsp/power_peaks.hpp"

namespace tidemill::dvbs2 {

namespace {

// Means over 256 symbols of one level differ by a third at the most.
constexpr double kRoughSymbols = 256;
constexpr float kRoughRatio = 1.6F;

constexpr double kLevelGroupSymbols = 8;
constexpr double kLeastLevelSymbols = 128;  // to each side of a step, so that the spectrum can be compared
constexpr double kIndependent = 1.5;        // values of the power in a symbol's time
// Log-likelihood of two levels over one: by chance, once in 10^10 windows.
constexpr double kCertain = 30;
constexpr double kLeastRatio = 1.25;  // of amplitudes

// Shares of the correlations' energy: what the spectrum may differ by, and how far chance takes it for one
// sample.
constexpr double kSpectrumShare = 0.1;
constexpr double kSpectrumChance = 4;

}  // namespace

AgcSteps::AgcSteps(const FrontGeometry& geometry)
    : lags_(geometry.lags()),
      group_samples_(static_cast<std::size_t>(kLevelGroupSymbols * geometry.samples_per_symbol())),
      least_groups_(static_cast<std::size_t>(kLeastLevelSymbols / kLevelGroupSymbols)),
      rough_samples_(static_cast<std::size_t>(kRoughSymbols * geometry.samples_per_symbol()) / 8 * 8),
      independent_(kLevelGroupSymbols * kIndependent) {}

template <class Sample>
bool AgcSteps::powers_differ(std::span<const Sample> window) {
    rough_.resize(window.size() / rough_samples_);
    dsp::mean_powers(window, rough_samples_, rough_);
    float least = 0, most = 0;
    for (const float power : rough_) {
        if (power <= 0) continue;
        least = least > 0 ? std::min(least, power) : power;
        most = std::max(most, power);
    }
    return most > kRoughRatio * least;
}
template bool AgcSteps::powers_differ(std::span<const Iq>);
template bool AgcSteps::powers_differ(std::span<const dsp::Ci8>);

LevelStepList AgcSteps::find(std::span<const Iq> window, std::size_t begin, std::size_t end,
                             bool is_streams_first) {
    LevelStepList found;
    if (end < begin + 2 * least_groups_ * group_samples_) return found;
    const auto part = window.subspan(begin, end - begin);
    add_up(part);
    cuts_.assign(1, 0);
    search({0, power_.size() - 1, is_streams_first});
    cuts_.push_back(power_.size() - 1);
    for (std::size_t i = 1; i + 1 < cuts_.size(); ++i) {
        const auto step = step_at(part, {cuts_[i - 1], cuts_[i + 1]}, cuts_[i]);
        if (step) found.add({step->place + static_cast<std::int64_t>(begin), step->ratio});
    }
    return found;
}

void AgcSteps::add_up(std::span<const Iq> part) {
    power_.assign(1, 0);
    count_.assign(1, 0);
    for (std::size_t n = 0; n + group_samples_ <= part.size(); n += group_samples_) {
        double power = 0, count = 0;
        for (const Iq x : part.subspan(n, group_samples_)) {
            const double one = static_cast<double>(std::norm(x));
            power += one;
            count += one > 0 ? 1 : 0;
        }
        power_.push_back(power_.back() + power);
        count_.push_back(count_.back() + count);
    }
}

double AgcSteps::mean(std::size_t first, std::size_t last) const {
    const double count = count_[last] - count_[first];
    return count > 0 ? (power_[last] - power_[first]) / count : 0;
}

// Log-likelihood, of independent values of the power, that there are two levels.
double AgcSteps::gain_of_cut(const Stretch& stretch, std::size_t cut) const {
    const double all = mean(stretch.first, stretch.last), before = mean(stretch.first, cut),
                 after = mean(cut, stretch.last);
    if (before <= 0 || after <= 0) return 0;
    const double scale = independent_ / static_cast<double>(group_samples_);
    return scale * ((count_[cut] - count_[stretch.first]) * std::log(all / before) +
                    (count_[stretch.last] - count_[cut]) * std::log(all / after));
}

// A signal that begins some dozen symbols behind the stream's first sample is to be found there, or it would
// look like a step where steps begin to be looked for.
std::size_t AgcSteps::best_cut(const Stretch& stretch) const {
    std::size_t best = stretch.first + (stretch.is_streams_first ? 1 : least_groups_);
    for (std::size_t cut = best; cut + least_groups_ <= stretch.last; ++cut)
        if (gain_of_cut(stretch, cut) > gain_of_cut(stretch, best)) best = cut;
    return best;
}

// Each sample says by its power to which side it rather belongs.
std::size_t AgcSteps::exact_place(std::span<const Iq> part, const Stretch& stretch, std::size_t cut) const {
    const double before = mean(stretch.first, cut), after = mean(cut, stretch.last);
    const std::size_t first = (cut - 1) * group_samples_, last = (cut + 1) * group_samples_;
    double sum = 0, most = 0;
    std::size_t best = first;
    for (std::size_t n = first; n < last; ++n) {
        const double power = static_cast<double>(std::norm(part[n]));
        sum += std::log(after / before) + power / after - power / before;
        if (sum > most) most = sum, best = n + 1;
    }
    return best / 2 * 2;  // filters take samples in pairs
}

bool AgcSteps::is_same_spectrum(std::span<const Iq> before, std::span<const Iq> after) const {
    const std::size_t reach = lags_.reach();
    if (before.size() <= reach || after.size() <= reach) return false;
    const std::size_t n = before.size() - reach, m = after.size() - reach;
    const auto a = dsp::lag_correlation(before, n, lags_), b = dsp::lag_correlation(after, m, lags_);
    if (a.power <= 0 || b.power <= 0) return false;
    double energy_a = 0, energy_b = 0, difference = 0;
    for (std::size_t l = 0; l < lags_.count; ++l) {
        const auto x = a.sums[l] / a.power, y = b.sums[l] / b.power;
        energy_a += std::norm(x);
        energy_b += std::norm(y);
        difference += std::norm(x - y);
    }
    const double chance =
        static_cast<double>(lags_.count) * (1.0 / static_cast<double>(n) + 1.0 / static_cast<double>(m));
    return difference < kSpectrumShare * std::max(energy_a, energy_b) + kSpectrumChance * chance;
}

// The clearest first, then those to both sides of it.
void AgcSteps::search(const Stretch& stretch) {
    if (stretch.last < stretch.first + 2 * least_groups_) return;
    const std::size_t cut = best_cut(stretch);
    if (gain_of_cut(stretch, cut) < kCertain) return;
    search({stretch.first, cut, stretch.is_streams_first});
    cuts_.push_back(cut);
    search({cut, stretch.last});
}

// Samples between two changes of the power have one level. In front of a signal that begins with the stream
// it is too short to be compared: nobody knows what has changed.
std::optional<AgcStep> AgcSteps::step_at(std::span<const Iq> part, const Stretch& stretch,
                                         std::size_t cut) const {
    if (cut < stretch.first + least_groups_) return std::nullopt;
    const double ratio = std::sqrt(mean(cut, stretch.last) / mean(stretch.first, cut));
    if (std::max(ratio, 1 / ratio) < kLeastRatio) return std::nullopt;
    const std::size_t place = exact_place(part, stretch, cut);
    const std::size_t from = stretch.first * group_samples_, to = stretch.last * group_samples_;
    if (!is_same_spectrum(part.subspan(from, place - from), part.subspan(place, to - place)))
        return std::nullopt;
    return AgcStep{static_cast<std::int64_t>(place), ratio};
}

}  // namespace tidemill::dvbs2
