#include "tidemill/dvbs2/search/carrier_look.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <vector>

#include "tidemill/dsp/power_spectrum.hpp"
#include "tidemill/dsp/pulse.hpp"
#include "tidemill/dsp/sample_format.hpp"
#include "tidemill/dsp/tuner.hpp"
#include "tidemill/dvbs2/dvbs2_error.hpp"

namespace tidemill::dvbs2 {

namespace {

constexpr double kLookSymbols = 16384;
constexpr double kMostSamples = 1 << 27;
constexpr double kBinsPerSymbolRate = 128;

// Beyond so many samples a symbol only the surroundings are looked at.
constexpr double kMostRatio = 256;
constexpr double kAroundRatio = 16;

// The shape is compared up to this many symbol rates from the centre: neighbours may begin there.
constexpr double kShapeReach = 0.62;
// How much of what the spectrum does there the shape must explain. A symbol rate that is 5 % off explains
// less.
constexpr double kLikeness = 0.8;
constexpr double kSigmas = 6;

// Of the carrier's power per hertz: what is another signal, and how much of all its power matters.
constexpr double kOtherSignal = 0.25;
constexpr double kOthersMatter = 0.05;
constexpr double kOthersRun = 0.05;  // symbol rates over which it must hold on

// A spectrum in units of one carrier: frequencies in symbol rates.
struct Spectrum {
    std::vector<double> power;
    double stretches = 0;
    double bins_per_rate = 0;
    double centre_hz = 0;
    double bin_hz = 0;

    std::ptrdiff_t size() const { return std::ssize(power); }
    double hz_of(double bin) const { return centre_hz + (bin - static_cast<double>(size()) / 2) * bin_hz; }
    double bin_of(double hz) const { return (hz - centre_hz) / bin_hz + static_cast<double>(size()) / 2; }
};

// The radio's own offset (DC) is a line in the middle, which the window smears over some bins.
void patch_middle(std::vector<float>& power) {
    constexpr std::size_t kSmeared = 4, kBeside = 4;
    const std::size_t middle = power.size() / 2;
    if (middle < kSmeared + kBeside) return;
    double beside = 0;
    for (std::size_t k = 1; k <= kBeside; ++k)
        beside += static_cast<double>(power[middle - kSmeared - k] + power[middle + kSmeared + k]);
    const auto usual = static_cast<float>(beside / (2 * kBeside));
    for (std::size_t k = middle - kSmeared; k <= middle + kSmeared; ++k)
        if (power[k] > 1.5F * usual) power[k] = usual;
}

// Calls use(samples) for pieces of what the source gives, until it returns false.
template <class Use>
void read_pieces(io::SampleSource& source, Use use) {
    constexpr std::size_t kPiece = 1 << 15;
    const std::size_t size = dsp::bytes_per_sample(source.format());
    std::vector<std::byte> bytes(kPiece * size);
    std::vector<dsp::Iq> samples(kPiece);
    while (const std::size_t got = source.read(bytes)) {
        const auto piece = std::span(samples).first(got / size);
        dsp::convert_samples(source.format(), std::span(bytes).first(got / size * size), piece);
        if (!use(piece)) return;
    }
}

Spectrum spectrum_of(io::SampleSource& source, double sample_rate_hz, const LookConfig& config) {
    const double ratio = sample_rate_hz / config.symbol_rate_hz;
    std::optional<dsp::Tuner> around;
    const double seen_ratio = ratio > kMostRatio ? kAroundRatio : ratio;
    if (ratio > kMostRatio) {
        around.emplace(dsp::TunerConfig{.sample_rate_hz = sample_rate_hz,
                                        .output_rate_hz = kAroundRatio * config.symbol_rate_hz,
                                        .offset_hz = config.near_hz,
                                        .pass_hz = 0.4 * kAroundRatio * config.symbol_rate_hz});
    }
    dsp::PowerSpectrum seen(std::bit_ceil(static_cast<std::size_t>(kBinsPerSymbolRate * seen_ratio)));
    const double wanted = std::min(kLookSymbols * ratio, kMostSamples);
    double done = 0;
    std::vector<dsp::Iq> tuned;
    read_pieces(source, [&](std::span<dsp::Iq> piece) {
        done += static_cast<double>(piece.size());
        if (around) {
            tuned.clear();
            around->process(piece, tuned);
            seen.add(tuned);
        } else {
            seen.add(piece);
        }
        return done < wanted;
    });
    std::vector<float> power = seen.power();
    if (!around) patch_middle(power);
    const auto bins = static_cast<double>(seen.bins());
    return {.power = {power.begin(), power.end()},
            .stretches = static_cast<double>(seen.stretches()),
            .bins_per_rate = bins / seen_ratio,
            .centre_hz = around ? config.near_hz : 0,
            .bin_hz = seen_ratio * config.symbol_rate_hz / bins};
}

// A carrier's shape laid over the spectrum.
struct Fit {
    double likeness = 0;  // 0 to 1
    double level = 0;     // of the carrier
    double floor = 0;     // of what it stands on
};

class SpectrumShape {
  public:
    SpectrumShape(const Spectrum& spectrum, double rolloff) : spectrum_(spectrum), rolloff_(rolloff) {}

    Fit at(double bin) const {
        const double reach = kShapeReach * spectrum_.bins_per_rate;
        const auto first = std::max<std::ptrdiff_t>(0, std::lround(std::ceil(bin - reach)));
        const auto last =
            std::min<std::ptrdiff_t>(spectrum_.size() - 1, std::lround(std::floor(bin + reach)));
        double n = 0, p = 0, t = 0, pp = 0, tt = 0, pt = 0;
        for (std::ptrdiff_t k = first; k <= last; ++k) {
            const double power = spectrum_.power[static_cast<std::size_t>(k)];
            const double shape = dsp::raised_cosine_spectrum(
                (static_cast<double>(k) - bin) / spectrum_.bins_per_rate, rolloff_);
            n += 1, p += power, t += shape, pp += power * power, tt += shape * shape, pt += power * shape;
        }
        // Nothing to stand on was seen where too much lies beyond the recorded band.
        if (n < 1.7 * reach) return {};
        const double shape_variance = tt / n - t / n * t / n, covariance = pt / n - p / n * t / n;
        const double chance = pp / n / spectrum_.stretches;  // what few stretches scatter
        const double variance = pp / n - p / n * p / n - chance;
        Fit fit{.level = covariance / shape_variance};
        fit.floor = std::max(p / n - fit.level * t / n, 0.0);
        if (fit.level <= kSigmas * std::sqrt(chance / n / shape_variance)) return fit;
        fit.likeness = covariance * covariance / (shape_variance * std::max(variance, 1e-30));
        return fit;
    }

    // Between bins, near the best of them.
    double refined(double bin) const {
        double best = bin;
        for (double place = bin - 1; place <= bin + 1; place += 0.05)
            if (at(place).likeness > at(best).likeness) best = place;
        return best;
    }

  private:
    const Spectrum& spectrum_;
    double rolloff_;
};

// The middles of all stretches in which the shape fits.
std::vector<double> places_of(const Spectrum& spectrum, const SpectrumShape& shape) {
    std::vector<double> places;
    double best = 0;
    for (std::ptrdiff_t k = 0; k < spectrum.size(); ++k) {
        const double likeness = shape.at(static_cast<double>(k)).likeness;
        if (likeness < kLikeness) {
            best = 0;
        } else if (likeness > best) {
            if (best > 0) places.pop_back();
            best = likeness;
            places.push_back(static_cast<double>(k));
        }
    }
    return places;
}

// Where another signal begins to one side, in symbol rates; what is beyond the edge of the band is none.
double other_begins(const Spectrum& s, double centre, double side, double from, double level) {
    const auto run = static_cast<int>(std::max(3.0, kOthersRun * s.bins_per_rate));
    double sum = 0;
    std::vector<double> latest;
    for (double d = from * s.bins_per_rate;; ++d) {
        const auto k = std::lround(centre + side * d);
        if (k < 0 || k >= s.size()) return 0;
        latest.push_back(s.power[static_cast<std::size_t>(k)]);
        sum += latest.back();
        if (std::ssize(latest) < run) continue;
        if (std::ssize(latest) > run) sum -= latest[latest.size() - 1 - static_cast<std::size_t>(run)];
        if (sum / run > level) return (d - run) / s.bins_per_rate;
    }
}

// Power above the floor beyond the carrier's edges, over its own.
double others_power(const Spectrum& s, double centre, double edge, const Fit& fit) {
    double others = 0;
    for (std::ptrdiff_t k = 0; k < s.size(); ++k) {
        if (std::abs(static_cast<double>(k) - centre) < edge * s.bins_per_rate) continue;
        const double over = s.power[static_cast<std::size_t>(k)] - fit.floor;
        if (over > kOtherSignal * fit.level) others += over;
    }
    return others / (fit.level * s.bins_per_rate);
}

SeenCarrier describe(const Spectrum& s, double centre, const Fit& fit, double rolloff) {
    const double edge = (1 + rolloff) / 2;
    SeenCarrier seen{.offset_hz = s.hz_of(centre),
                     .level_db = 10 * std::log10(fit.level / std::max(fit.floor, 1e-9 * fit.level))};
    const double others = others_power(s, centre, edge, fit);
    if (others < kOthersMatter) return seen;
    const double level = fit.floor + kOtherSignal * fit.level;
    double nearest = 0;
    for (const double side : {-1.0, 1.0}) {
        const double begins = other_begins(s, centre, side, edge, level);
        if (begins > 0 && (nearest == 0 || begins < nearest)) nearest = begins;
    }
    seen.neighbour_hz = nearest * s.bins_per_rate * s.bin_hz;
    seen.others_db = 10 * std::log10(others);
    return seen;
}

}  // namespace

std::optional<SeenCarrier> look_for_carrier(io::SampleSource& source, const LookConfig& config) {
    const auto rate = source.sample_rate_hz();
    if (!rate || !(config.symbol_rate_hz > 0))
        throw Dvbs2Error("a carrier is looked for by the sample rate and its symbol rate: give both");
    const Spectrum spectrum = spectrum_of(source, *rate, config);
    if (spectrum.power.empty()) return std::nullopt;
    const SpectrumShape shape(spectrum, config.rolloff);
    const std::vector<double> places = places_of(spectrum, shape);
    if (places.empty()) return std::nullopt;
    const double wanted = spectrum.bin_of(config.near_hz);
    const double nearest =
        *std::ranges::min_element(places, {}, [&](double place) { return std::abs(place - wanted); });
    const double centre = shape.refined(nearest);
    return describe(spectrum, centre, shape.at(centre), config.rolloff);
}

}  // namespace tidemill::dvbs2
