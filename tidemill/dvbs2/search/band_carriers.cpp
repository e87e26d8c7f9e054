#include "tidemill/dvbs2/search/band_carriers.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <optional>
#include <utility>

#include "tidemill/dsp/power_spectrum.hpp"
#include "tidemill/dvbs2/dvbs2_error.hpp"
#include "tidemill/dvbs2/search/internal/occupied_stretches.hpp"
#include "tidemill/dvbs2/search/internal/shape_over_bins.hpp"
#include "tidemill/dvbs2/search/internal/source_pieces.hpp"
#include "tidemill/dvbs2/search/internal/spectrum_shape.hpp"
#include "tidemill/dvbs2/search/internal/spectrum_tones.hpp"

namespace tidemill::dvbs2 {

namespace {

using internal::CarrierShape;
using internal::ObservedSpectrum;
using internal::ShapeFit;
using internal::SpectrumTone;

constexpr std::size_t kMostBandSamples = 1 << 25;
constexpr std::size_t kMostBins = 1 << 15, kLeastBins = 1 << 9;
constexpr std::size_t kLeastStretches = 64;
// All of the beginning goes into the spectrum; then runs of so many samples, one of four, for what comes
// later is looked at in case it was not there before.
constexpr std::size_t kAllOfFirst = 1 << 22;
constexpr std::size_t kRun = 1 << 18, kOneRunOf = 4;

// Widths that are tried, in bins, and how a width grows from one to the next.
constexpr double kNarrowest = 24;
constexpr double kWidthStep = 1.04;
constexpr double kWidest = 0.8;  // of the band
// A wide carrier is looked at with so few bins.
constexpr double kCoarseBins = 48;

constexpr double kBandLikeness = 0.75, kRefinedLikeness = 0.8;
constexpr double kTypicalRolloff = 0.25;
constexpr std::array kUsualRolloffs{0.05, 0.10, 0.15, 0.20, 0.25, 0.35};

// Carriers whose centres are nearer than this share of their widths are one.
constexpr double kCentresApart = 0.45;
// Share of a stretch's width: where carriers take more of it they are what it holds.
constexpr double kExplained = 0.75;
// An image is so much weaker than what it mirrors.
constexpr double kImage = 0.01;
// Ripples of a pulse are 30 dB down, and reach so many symbol rates; where no radio's noise covers them, what
// is left of them lies all over the band, 60 dB down.
constexpr double kRipple = 0.001, kRippleReach = 3;
constexpr double kFarRipple = 1e-6;

struct CarrierCandidate {
    double bin = 0, width = 0;
    double likeness = 0;  // less what chance may have done to it
};

bool goes_into_spectrum(std::size_t sample) {
    return sample < kAllOfFirst || sample / kRun % kOneRunOf == 0;
}

ObservedSpectrum band_spectrum(io::SampleSource& source) {
    std::vector<dsp::Iq> samples;  // as many as say how fine the spectrum may be
    std::optional<dsp::PowerSpectrum> seen;
    std::size_t done = 0;
    const auto begin = [&] {
        const std::size_t bins =
            std::bit_floor(std::max<std::size_t>(1, samples.size() / (kLeastStretches / 2)));
        seen.emplace(std::clamp(bins, kLeastBins, kMostBins));
        seen->add(samples);
    };
    internal::read_pieces(source, [&](std::span<dsp::Iq> piece) {
        const std::size_t first = std::exchange(done, done + piece.size());
        // Silence adds nothing to a mean but stretches, which would make chance look small.
        const bool is_silence = std::ranges::all_of(piece, [](dsp::Iq one) { return one == dsp::Iq{}; });
        if (is_silence && !seen) return done < kMostBandSamples;
        if (seen) {
            if (!is_silence && goes_into_spectrum(first))
                seen->add(piece);
            else
                seen->restart();
        } else {
            samples.insert(samples.end(), piece.begin(), piece.end());
            if (samples.size() >= kMostBins * kLeastStretches / 2) begin();
        }
        return done < kMostBandSamples;
    });
    if (!seen) begin();
    const std::vector<float> power = seen->power();
    ObservedSpectrum spectrum{.power = {power.begin(), power.end()},
                              .stretches = static_cast<double>(seen->stretches()),
                              .bin_hz = *source.sample_rate_hz() / static_cast<double>(seen->bins())};
    if (!spectrum.power.empty()) spectrum.strongest = std::ranges::max(spectrum.power);
    internal::patch_middle(spectrum.power);
    return spectrum;
}

/// Looks for carriers of one width after the other.
class CandidateSearch {
  public:
    explicit CandidateSearch(const ObservedSpectrum& fine) : fine_(fine) {}

    // Where the shape of one width fits better than at the bins beside.
    void add(double width, std::vector<CarrierCandidate>& found) {
        const auto factor = std::max<std::size_t>(1, static_cast<std::size_t>(width / kCoarseBins));
        if (std::exchange(factor_, factor) != factor) coarse_ = internal::coarser(fine_, factor);
        const auto scale = static_cast<double>(factor);
        const CarrierShape shape{width / scale, kTypicalRolloff};
        const std::span<const ShapeFit> fits = over_.fit(shape, coarse_);
        for (std::size_t k = 0; k < fits.size(); ++k) {
            const ShapeFit& here = fits[k];
            if (here.likeness > kBandLikeness && is_peak(fits, k) &&
                shape.stands_out(coarse_, static_cast<double>(k), here))
                found.push_back({(static_cast<double>(k) + 0.5) * scale - 0.5, width,
                                 std::min(here.likeness, 1.0) * here.beyond_chance});
        }
    }

  private:
    static bool is_peak(std::span<const ShapeFit> fits, std::size_t k) {
        const double here = fits[k].likeness;
        return (k == 0 || here >= fits[k - 1].likeness) &&
               (k + 1 == fits.size() || here > fits[k + 1].likeness);
    }

    const ObservedSpectrum& fine_;
    std::size_t factor_ = 0;  // of bins that are one of these
    ObservedSpectrum coarse_{};
    internal::ShapeOverBins over_{};
};

bool overlap(const CarrierCandidate& a, const CarrierCandidate& b) {
    return std::abs(a.bin - b.bin) < kCentresApart * (a.width + b.width);
}

// The likeliest first, and of those that overlap only that one.
std::vector<CarrierCandidate> without_overlaps(std::vector<CarrierCandidate> all) {
    std::ranges::sort(all, std::ranges::greater(), &CarrierCandidate::likeness);
    std::vector<CarrierCandidate> kept;
    for (const CarrierCandidate& one : all) {
        if (std::ranges::none_of(kept, [&](const CarrierCandidate& other) { return overlap(one, other); }))
            kept.push_back(one);
    }
    return kept;
}

double decibels_over(double floor, double level) {
    return 10 * std::log10(level / std::max(floor, 1e-9 * level));
}

// Width and roll-off at which the shape fits best.
FoundCarrier refined(const ObservedSpectrum& fine, const CarrierCandidate& candidate) {
    const auto factor =
        std::max<std::size_t>(1, static_cast<std::size_t>(candidate.width / (4 * kCoarseBins)));
    const ObservedSpectrum spectrum = internal::coarser(fine, factor);
    const double bins = candidate.width / static_cast<double>(factor);
    const double start = spectrum.bin_of(fine.hz_of(candidate.bin)) - 0.5 + 0.5 / static_cast<double>(factor);
    CarrierShape best{bins, kTypicalRolloff};
    double place = best.refined(spectrum, start, 0.05 * bins), most = 0;
    for (const double rolloff : kUsualRolloffs) {
        for (double change = 0.94; change < 1.06; change += 0.005) {
            const CarrierShape shape{bins * change, rolloff};
            const double likeness = shape.fit(spectrum, place).likeness;
            if (likeness > most) most = likeness, best = shape;
        }
    }
    place = best.refined(spectrum, place, 0.02 * bins);
    const ShapeFit fit = best.fit(spectrum, place);
    if (fit.likeness < kRefinedLikeness) return {};
    // A coarse bin's middle lies half of it behind its beginning.
    const double shift = (static_cast<double>(factor) - 1) / 2 * fine.bin_hz;
    return {.offset_hz = spectrum.hz_of(place) + shift,
            .symbol_rate_hz = best.bins * spectrum.bin_hz,
            .rolloff = best.rolloff,
            .level_db = decibels_over(fit.floor, fit.level),
            .power = fit.level};
}

bool mirrors(const FoundCarrier& image, const FoundCarrier& original) {
    return image.power < kImage * original.power &&
           std::abs(image.offset_hz + original.offset_hz) < 0.1 * original.symbol_rate_hz &&
           std::abs(image.symbol_rate_hz / original.symbol_rate_hz - 1) < 0.2;
}

// A transmitter's pulse leaves a ripple beside its carrier, for it must end somewhere.
bool is_ripple(const FoundCarrier& ripple, const FoundCarrier& of) {
    const bool is_near = std::abs(ripple.offset_hz - of.offset_hz) < kRippleReach * of.symbol_rate_hz;
    return ripple.power < (is_near ? kRipple : kFarRipple) * of.power;
}

bool is_left_by(const std::vector<FoundCarrier>& carriers, const FoundCarrier& one) {
    return std::ranges::any_of(
        carriers, [&](const FoundCarrier& other) { return mirrors(one, other) || is_ripple(one, other); });
}

void drop_what_others_leave(std::vector<FoundCarrier>& carriers) {
    const std::vector<FoundCarrier> all = carriers;
    std::erase_if(carriers, [&](const FoundCarrier& one) { return is_left_by(all, one); });
}

double neighbour_of(const FoundCarrier& one, const std::vector<FoundCarrier>& carriers) {
    double neighbour_hz = 0;
    for (const FoundCarrier& other : carriers) {
        if (&one == &other) continue;
        const double begins =
            std::abs(other.offset_hz - one.offset_hz) - other.symbol_rate_hz * (1 + other.rolloff) / 2;
        const double nearest = std::max(begins, one.symbol_rate_hz / 2);
        if (neighbour_hz == 0 || nearest < neighbour_hz) neighbour_hz = nearest;
    }
    return neighbour_hz;
}

// Whether a stretch is one of the carriers, or nothing but several of them.
bool is_explained(const FoundCarrier& stretch, const std::vector<FoundCarrier>& inside) {
    double width = 0;
    for (const FoundCarrier& one : inside) width += one.symbol_rate_hz;
    return width > kExplained * stretch.symbol_rate_hz;
}

std::vector<FoundCarrier> stretches_of(const ObservedSpectrum& s, const std::vector<FoundCarrier>& carriers) {
    std::vector<FoundCarrier> stretches;
    for (const internal::OccupiedStretch& seen : internal::occupied_stretches(s)) {
        FoundCarrier stretch{.offset_hz = s.hz_of(seen.middle),
                             .symbol_rate_hz = seen.width * s.bin_hz,
                             .level_db = decibels_over(seen.floor, seen.level),
                             .power = seen.level};
        std::vector<FoundCarrier> inside, beside;
        for (const FoundCarrier& one : carriers)
            (stretch.covers(one.offset_hz) ? inside : beside).push_back(one);
        stretch.neighbour_hz = neighbour_of(stretch, beside);
        if (!is_explained(stretch, inside) && !is_left_by(carriers, stretch)) stretches.push_back(stretch);
    }
    return stretches;
}

// Those outside the carriers.
std::vector<double> places_of(const std::vector<SpectrumTone>& tones, const ObservedSpectrum& spectrum,
                              const std::vector<FoundCarrier>& carriers) {
    std::vector<double> places_hz;
    for (const SpectrumTone& tone : tones) {
        const double hz = spectrum.hz_of(static_cast<double>(tone.bin));
        if (std::ranges::none_of(carriers, [&](const FoundCarrier& one) { return one.covers(hz); }))
            places_hz.push_back(hz);
    }
    return places_hz;
}

}  // namespace

FoundBand find_carriers(io::SampleSource& source) {
    if (!source.sample_rate_hz()) throw Dvbs2Error("carriers are looked for by the sample rate: give it");
    ObservedSpectrum spectrum = band_spectrum(source);
    const std::vector<SpectrumTone> tones = internal::tones_of(spectrum);
    internal::take_out(tones, spectrum);
    std::vector<CarrierCandidate> candidates;
    CandidateSearch search(spectrum);
    for (double width = kNarrowest; width < kWidest * static_cast<double>(spectrum.size());
         width *= kWidthStep)
        search.add(width, candidates);
    FoundBand band;
    for (const CarrierCandidate& candidate : without_overlaps(std::move(candidates))) {
        const FoundCarrier carrier = refined(spectrum, candidate);
        if (carrier.symbol_rate_hz > 0) band.carriers.push_back(carrier);
    }
    drop_what_others_leave(band.carriers);
    std::ranges::sort(band.carriers, {}, &FoundCarrier::offset_hz);
    for (FoundCarrier& one : band.carriers) one.neighbour_hz = neighbour_of(one, band.carriers);
    band.stretches = stretches_of(spectrum, band.carriers);
    band.tones_hz = places_of(tones, spectrum, band.carriers);
    return band;
}

}  // namespace tidemill::dvbs2
