#include "tidemill/dvbs2/search/internal/spectrum_shape.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

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

struct Sums {
    double n = 0, p = 0, t = 0, pp = 0, tt = 0, pt = 0;

    void add(double power, double shape) {
        n += 1, p += power, t += shape, pp += power * power, tt += shape * shape, pt += power * shape;
    }

    /// Nothing where too much lies beyond the recorded band, for nothing to stand on was seen there.
    ShapeFit fit(double reach, double stretches) const {
        if (n < 1.7 * reach) return {};
        const double shape_variance = tt / n - t / n * t / n;
        const double covariance = pt / n - p / n * t / n;
        const double chance = pp / n / stretches;  // what few stretches scatter
        const double variance = pp / n - p / n * p / n - chance;
        ShapeFit fit{.level = covariance / shape_variance};
        fit.floor = std::max(p / n - fit.level * t / n, 0.0);
        const double by_chance = kSigmas * std::sqrt(kSmeared * chance / n / shape_variance);
        if (fit.level <= by_chance) return fit;
        fit.likeness = covariance * covariance / (shape_variance * std::max(variance, 1e-30));
        fit.beyond_chance = 1 - by_chance / fit.level * (by_chance / fit.level);
        return fit;
    }
};

}  // namespace

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

ShapeFit CarrierShape::fit(const SeenSpectrum& spectrum, double bin) const {
    const double reach = kReach * bins;
    const auto first = std::max<std::ptrdiff_t>(0, std::lround(std::ceil(bin - reach)));
    const auto last = std::min<std::ptrdiff_t>(spectrum.size() - 1, std::lround(std::floor(bin + reach)));
    Sums s;
    for (std::ptrdiff_t k = first; k <= last; ++k)
        s.add(spectrum.power[static_cast<std::size_t>(k)],
              dsp::raised_cosine_spectrum((static_cast<double>(k) - bin) / bins, rolloff));
    return s.fit(reach, spectrum.stretches);
}

ShapeOverBins::ShapeOverBins(const CarrierShape& shape)
    : reach_(static_cast<std::ptrdiff_t>(kReach * shape.bins)),
      reach_bins_(kReach * shape.bins),
      sums_{0},
      squares_{0} {
    for (std::ptrdiff_t k = -reach_; k <= reach_; ++k) {
        const double value = dsp::raised_cosine_spectrum(static_cast<double>(k) / shape.bins, shape.rolloff);
        shape_.push_back(value);
        sums_.push_back(sums_.back() + value);
        squares_.push_back(squares_.back() + value * value);
    }
}

ShapeFit ShapeOverBins::fit(const SeenSpectrum& spectrum, std::ptrdiff_t bin) const {
    const std::ptrdiff_t first = std::max<std::ptrdiff_t>(0, bin - reach_);
    const std::ptrdiff_t last = std::min(spectrum.size() - 1, bin + reach_);
    const auto from = static_cast<std::size_t>(first - bin + reach_);
    const auto count = static_cast<std::size_t>(last - first + 1);
    const double *const power = spectrum.power.data() + first, *const shape = shape_.data() + from;
    Sums s{.n = static_cast<double>(count),
           .t = sums_[from + count] - sums_[from],
           .tt = squares_[from + count] - squares_[from]};
    std::array<double, 4> p{}, pp{}, pt{};  // sums that do not wait for one another
    for (std::size_t k = 0; k < count; ++k) {
        p[k % 4] += power[k], pp[k % 4] += power[k] * power[k], pt[k % 4] += power[k] * shape[k];
    }
    s.p = p[0] + p[1] + p[2] + p[3];
    s.pp = pp[0] + pp[1] + pp[2] + pp[3];
    s.pt = pt[0] + pt[1] + pt[2] + pt[3];
    return s.fit(reach_bins_, spectrum.stretches);
}

bool CarrierShape::stands_out(const SeenSpectrum& spectrum, double bin, const ShapeFit& fit) const {
    const auto reach = static_cast<std::ptrdiff_t>(kReach * bins);
    const std::ptrdiff_t middle = std::lround(bin);
    std::vector<double> steps;
    for (std::ptrdiff_t k = std::max<std::ptrdiff_t>(0, middle - reach);
         k <= std::min(middle + reach, spectrum.size() - 1 - kApart); ++k) {
        const double step = spectrum.power[static_cast<std::size_t>(k)] -
                            spectrum.power[static_cast<std::size_t>(k + kApart)];
        steps.push_back(step * step / 2);
    }
    if (steps.empty()) return false;
    const auto half = steps.begin() + std::ssize(steps) / 2;
    std::ranges::nth_element(steps, half);
    const double chance = *half / kMedianOfSquare;
    return fit.level >
           kSigmas * std::sqrt(kSmeared * chance / static_cast<double>(steps.size()) / kShapeVariance);
}

double CarrierShape::refined(const SeenSpectrum& spectrum, double bin, double reach) const {
    double best = bin, most = fit(spectrum, bin).likeness;
    for (double place = bin - reach; place <= bin + reach; place += reach / 20) {
        const double likeness = fit(spectrum, place).likeness;
        if (likeness > most) most = likeness, best = place;
    }
    return best;
}

}  // namespace tidemill::dvbs2::internal
