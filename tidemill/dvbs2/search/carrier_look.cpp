#include "tidemill/dvbs2/search/carrier_look.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

#include "tidemill/dsp/power_spectrum.hpp"
#include "tidemill/dsp/tuner.hpp"
#include "tidemill/dvbs2/dvbs2_error.hpp"
#include "tidemill/dvbs2/search/internal/shape_over_bins.hpp"
#include "tidemill/dvbs2/search/internal/source_pieces.hpp"
#include "tidemill/dvbs2/search/internal/spectrum_shape.hpp"

namespace tidemill::dvbs2 {

namespace {

using internal::CarrierShape;
using internal::ObservedSpectrum;
using internal::ShapeFit;

constexpr double kLookSymbols = 16384;
constexpr double kMostLookSamples = 1 << 27;
constexpr double kBinsPerSymbolRate = 128;

// Beyond so many samples a symbol only the surroundings are looked at.
constexpr double kMostRatio = 256;
constexpr double kAroundRatio = 16;

// How much the shape must explain. A symbol rate that is 5 % off explains less.
constexpr double kLookLikeness = 0.8;

// Share of the carrier's power per hertz: what is another signal, and how much of all its power matters.
constexpr double kOtherSignal = 0.25;
constexpr double kOthersMatter = 0.05;
constexpr double kOthersRun = 0.05;  // symbol rates over which it must hold on

ObservedSpectrum look_spectrum(io::SampleSource& source, double sample_rate_hz, const LookConfig& config) {
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
    const double wanted = std::min(kLookSymbols * ratio, kMostLookSamples);
    double done = 0;
    std::vector<dsp::Iq> tuned;
    internal::read_pieces(source, [&](std::span<dsp::Iq> piece) {
        done += static_cast<double>(piece.size());
        tuned.clear();
        if (around) around->process(piece, tuned);
        seen.add(around ? std::span<const dsp::Iq>(tuned) : piece);
        return done < wanted;
    });
    const std::vector<float> power = seen.power();
    ObservedSpectrum spectrum{
        .power = {power.begin(), power.end()},
        .stretches = static_cast<double>(seen.stretches()),
        .centre_hz = around ? config.near_hz : 0,
        .bin_hz = seen_ratio * config.symbol_rate_hz / static_cast<double>(seen.bins())};
    if (!around) internal::patch_middle(spectrum.power);
    return spectrum;
}

// The middles of all stretches in which the shape fits.
std::vector<double> carrier_places(const ObservedSpectrum& spectrum, const CarrierShape& shape) {
    std::vector<double> places;
    internal::ShapeOverBins over;
    const std::span<const ShapeFit> fits = over.fit(shape, spectrum);
    double best = 0;
    for (std::size_t k = 0; k < fits.size(); ++k) {
        const double likeness = fits[k].likeness;
        if (likeness < kLookLikeness) {
            best = 0;
        } else if (likeness > best) {
            if (best > 0) places.pop_back();
            best = likeness;
            places.push_back(static_cast<double>(k));
        }
    }
    return places;
}

// Bins from the centre to where another signal begins to one side; 0: none within the band.
double other_begins(const ObservedSpectrum& s, double centre, double side, double from, double run,
                    double level) {
    double sum = 0;
    for (double d = from;; ++d) {
        const auto power_at = [&](double bins) {
            return s.power[static_cast<std::size_t>(std::lround(centre + side * bins))];
        };
        const double place = std::round(centre + side * d);
        if (place < 0 || place >= static_cast<double>(s.size())) return 0;
        sum += power_at(d);
        if (d < from + run - 1) continue;
        if (sum > run * level) return d - run;
        sum -= power_at(d - run + 1);
    }
}

// Power above the floor beyond the carrier's edges, over its own.
double others_power(const ObservedSpectrum& s, double centre, const CarrierShape& shape,
                    const ShapeFit& fit) {
    const double edge = shape.bins * (1 + shape.rolloff) / 2;
    double others = 0;
    for (std::ptrdiff_t k = 0; k < s.size(); ++k) {
        const double over = s.power[static_cast<std::size_t>(k)] - fit.floor;
        if (std::abs(static_cast<double>(k) - centre) >= edge && over > kOtherSignal * fit.level)
            others += over;
    }
    return others / (fit.level * shape.bins);
}

ObservedCarrier describe(const ObservedSpectrum& s, double centre, const CarrierShape& shape) {
    const ShapeFit fit = shape.fit(s, centre);
    ObservedCarrier seen{.offset_hz = s.hz_of(centre),
                         .level_db = 10 * std::log10(fit.level / std::max(fit.floor, 1e-9 * fit.level))};
    const double others = others_power(s, centre, shape, fit);
    if (others < kOthersMatter) return seen;
    const double level = fit.floor + kOtherSignal * fit.level;
    const double from = shape.bins * (1 + shape.rolloff) / 2,
                 run = std::max(3.0, std::floor(kOthersRun * shape.bins));
    double nearest = 0;
    for (const double side : {-1.0, 1.0}) {
        const double begins = other_begins(s, centre, side, from, run, level);
        if (begins > 0 && (nearest == 0 || begins < nearest)) nearest = begins;
    }
    seen.neighbour_hz = nearest * s.bin_hz;
    seen.others_db = 10 * std::log10(others);
    return seen;
}

}  // namespace

std::optional<ObservedCarrier> look_for_carrier(io::SampleSource& source, const LookConfig& config) {
    const auto rate = source.sample_rate_hz();
    if (!rate || !(config.symbol_rate_hz > 0))
        throw Dvbs2Error("a carrier is looked for by the sample rate and its symbol rate: give both");
    const ObservedSpectrum spectrum = look_spectrum(source, *rate, config);
    if (spectrum.power.empty()) return std::nullopt;
    const CarrierShape shape{config.symbol_rate_hz / spectrum.bin_hz, config.rolloff};
    const std::vector<double> places = carrier_places(spectrum, shape);
    if (places.empty()) return std::nullopt;
    const double wanted = spectrum.bin_of(config.near_hz);
    const double nearest =
        *std::ranges::min_element(places, {}, [&](double place) { return std::abs(place - wanted); });
    return describe(spectrum, shape.refined(spectrum, nearest, 1), shape);
}

}  // namespace tidemill::dvbs2
