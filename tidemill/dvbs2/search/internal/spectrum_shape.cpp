#include "tidemill/dvbs2/search/internal/spectrum_shape.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "tidemill/base/quantile.hpp"
#include "tidemill/dsp/pulse.hpp"

namespace tidemill::dvbs2::internal {

namespace {

// The shape is compared up to this many symbol rates from the centre: neighbours may begin there.
constexpr double kReach = 0.62;
constexpr double kSigmas = 7;
// Bins beside one another share this much of their chance under the window of dsp::PowerSpectrum.
constexpr double kSmeared = 2;

// Bins so far apart share nothing; steps over a carrier's edges are few, so that the median does not see
// them.
constexpr std::ptrdiff_t kApart = 4;
constexpr double kMedianOfSquare = 0.455;  // of a normal variable over its variance
constexpr double kShapeVariance = 0.156;   // of a shape that takes 1 / 1.24 of where it is compared

}  // namespace

ShapeFit ShapeSums::fit(double reach, double stretches) const {
    if (n < 1.7 * reach) return {};
    const double shape_variance = tt / n - t / n * t / n;
    const double covariance = pt / n - p / n * t / n;
    const double chance = pp / n / stretches;  // what few stretches scatter
    // Most places end here, without a root.
    if (covariance <= 0 ||
        covariance * covariance * n <= kSigmas * kSigmas * kSmeared * chance * shape_variance)
        return {};
    const double variance = pp / n - p / n * p / n - chance;
    ShapeFit fit{.level = covariance / shape_variance};
    fit.floor = std::max(p / n - fit.level * t / n, 0.0);
    const double by_chance = kSigmas * std::sqrt(kSmeared * chance / n / shape_variance);
    fit.likeness = covariance * covariance / (shape_variance * std::max(variance, 1e-30 * pp / n));
    fit.beyond_chance = 1 - by_chance / fit.level * (by_chance / fit.level);
    return fit;
}

void patch_middle(std::vector<double>& power) {
    constexpr std::size_t kPeak = 4, kBeside = 4;
    const std::size_t middle = power.size() / 2;
    if (middle < kPeak + kBeside) return;
    double usual = 0;
    for (std::size_t k = 1; k <= kBeside; ++k)
        usual += (power[middle - kPeak - k] + power[middle + kPeak + k]) / (2 * kBeside);
    for (std::size_t k = middle - kPeak; k <= middle + kPeak; ++k)
        if (power[k] > 1.5 * usual) power[k] = usual;
}

ObservedSpectrum coarser(const ObservedSpectrum& fine, std::size_t bins) {
    // Neighbouring bins share half of their chance: the first step gains little.
    const double gain = std::max(1.0, static_cast<double>(bins) / 2);
    ObservedSpectrum coarse{.stretches = fine.stretches * gain,
                            .bin_hz = fine.bin_hz * static_cast<double>(bins)};
    for (std::size_t k = 0; k + bins <= fine.power.size(); k += bins) {
        double sum = 0;
        for (std::size_t i = 0; i < bins; ++i) sum += fine.power[k + i];
        coarse.power.push_back(sum / static_cast<double>(bins));
    }
    return coarse;
}

double CarrierShape::reach() const {
    return kReach * bins;
}

ShapeFit CarrierShape::fit(const ObservedSpectrum& spectrum, double bin) const {
    const double reach = this->reach();
    const auto first = std::max<std::ptrdiff_t>(0, std::lround(std::ceil(bin - reach)));
    const auto last = std::min<std::ptrdiff_t>(spectrum.size() - 1, std::lround(std::floor(bin + reach)));
    ShapeSums s;
    for (std::ptrdiff_t k = first; k <= last; ++k)
        s.add(spectrum.power[static_cast<std::size_t>(k)],
              dsp::raised_cosine_spectrum((static_cast<double>(k) - bin) / bins, rolloff));
    return s.fit(reach, spectrum.stretches);
}

bool CarrierShape::stands_out(const ObservedSpectrum& spectrum, double bin, const ShapeFit& fit) const {
    const auto reach = static_cast<std::ptrdiff_t>(this->reach());
    const std::ptrdiff_t middle = std::lround(bin);
    std::vector<double> steps;
    for (std::ptrdiff_t k = std::max<std::ptrdiff_t>(0, middle - reach);
         k <= std::min(middle + reach, spectrum.size() - 1 - kApart); ++k) {
        const double step = spectrum.power[static_cast<std::size_t>(k)] -
                            spectrum.power[static_cast<std::size_t>(k + kApart)];
        steps.push_back(step * step / 2);
    }
    if (steps.empty()) return false;
    const double chance = middle_value(steps) / kMedianOfSquare;
    return fit.level >
           kSigmas * std::sqrt(kSmeared * chance / static_cast<double>(steps.size()) / kShapeVariance);
}

double CarrierShape::refined(const ObservedSpectrum& spectrum, double bin, double reach) const {
    double best = bin, most = fit(spectrum, bin).likeness;
    for (double place = bin - reach; place <= bin + reach; place += reach / 20) {
        const double likeness = fit(spectrum, place).likeness;
        if (likeness > most) most = likeness, best = place;
    }
    return best;
}

}  // namespace tidemill::dvbs2::internal
