#include "tidemill/dsp/stretch_spectra.hpp"

#include <array>
#include <cmath>
#include <complex>
#include <numbers>
#include <vector>

#include <doctest/doctest.h>

#include "tidemill/dsp/dsp_error.hpp"
#include "tidemill/dsp/testing/every_target.hpp"

namespace tidemill::dsp {
namespace {

constexpr std::size_t kStretchBins = 1024;
constexpr SpectrumBandConfig kQuarter{
    .bins = kStretchBins, .offset = 0.123456, .pass = 0.06, .stop = 0.19, .stop_db = 80, .decimation = 4};

std::vector<Iq> band_of_tone(double frequency, const SpectrumBandConfig& config, std::size_t piece) {
    StretchSpectra stretches(config.bins);
    SpectrumBand band(config);
    std::vector<Iq> tone(12 * config.bins), out;
    for (std::size_t n = 0; n < tone.size(); ++n)
        tone[n] = Iq(std::polar(1.0, 2 * std::numbers::pi * frequency * static_cast<double>(n)));
    AlignedVector<Iq> spectra;
    for (std::size_t at = 0; at < tone.size(); at += piece)
        stretches.process(std::span(tone).subspan(at, std::min(piece, tone.size() - at)), spectra);
    for (std::size_t at = 0; at < spectra.size(); at += config.bins)
        band.process(std::span(spectra).subspan(at, config.bins), out);
    return out;
}

// How much of the samples is a tone of this frequency, and how much is not, in dB of a tone of amplitude 1.
struct ToneFit {
    double tone_db, rest_db;
};

ToneFit fit_tone(std::span<const Iq> samples, double frequency) {
    const auto at = [&](std::size_t n) {
        return std::polar(1.0, 2 * std::numbers::pi * frequency * static_cast<double>(n));
    };
    std::complex<double> amplitude;
    double rest = 1e-30;
    const auto count = static_cast<double>(samples.size());
    for (std::size_t n = 0; n < samples.size(); ++n)
        amplitude += std::complex<double>(samples[n]) * std::conj(at(n)) / count;
    for (std::size_t n = 0; n < samples.size(); ++n)
        rest += std::norm(std::complex<double>(samples[n]) - amplitude * at(n)) / count;
    return {20 * std::log10(std::abs(amplitude)), 10 * std::log10(rest)};
}

}  // namespace

TEST_CASE("stretch spectra: a tone in the band stays one tone over all stretches, others come 80 dB down") {
    on_every_target([] {
        const SpectrumBand band(kQuarter);
        CHECK(std::abs(band.place_of(kQuarter.offset)) <= 4 * 0.5 / kStretchBins);
        for (const double distance : {-0.06, -0.01, 0.0, 0.013, 0.06}) {
            const auto out = band_of_tone(kQuarter.offset + distance, kQuarter, 333);
            const ToneFit fit =
                fit_tone(std::span(out).subspan(400), band.place_of(kQuarter.offset + distance));
            CHECK(std::abs(fit.tone_db) < 0.01);
            CHECK(fit.rest_db < -100);
        }
        for (const double distance : {-0.4, -0.2, 0.2, 0.25, 0.5}) {
            const auto out = band_of_tone(kQuarter.offset + distance, kQuarter, kStretchBins);
            CHECK(fit_tone(std::span(out).subspan(400), 0).rest_db < -79);
        }
    });
}

TEST_CASE("stretch spectra: a band that moves to and fro goes by whole bins, and its phase goes on") {
    constexpr double kTone = 0.11;
    constexpr double kBin = 1.0 / kStretchBins;
    SpectrumBand band(kQuarter);
    StretchSpectra stretches(kStretchBins);
    std::vector<Iq> tone(12 * kStretchBins), out;
    for (std::size_t n = 0; n < tone.size(); ++n)
        tone[n] = Iq(std::polar(1.0, 2 * std::numbers::pi * kTone * static_cast<double>(n)));
    AlignedVector<Iq> spectra;
    stretches.process(tone, spectra);
    std::vector<Iq> turned_back;
    double cycles = 0, place = band.place_of(kTone);
    std::size_t moves = 0;
    for (std::size_t k = 0; k < spectra.size() / kStretchBins; ++k) {
        constexpr std::array<double, 6> kAway{0, 0.4, 1.3, -7.6, 30, -30};
        band.tune(kQuarter.offset + kAway[k % kAway.size()] * kBin);
        moves += band.place_of(kTone) != place ? 1 : 0;
        place = band.place_of(kTone);
        out.clear();
        band.process(std::span(spectra).subspan(k * kStretchBins, kStretchBins), out);
        for (const Iq& sample : out) {
            turned_back.push_back(sample * Iq(std::polar(1.0, -2 * std::numbers::pi * cycles)));
            cycles += place;
        }
    }
    CHECK(moves > 6);
    const ToneFit fit = fit_tone(std::span(turned_back).subspan(400), 0);
    CHECK(std::abs(fit.tone_db) < 0.01);
    CHECK(fit.rest_db < -75);  // what the stop band lets through changes with each move
}

TEST_CASE("stretch spectra: what comes at a time does not change a sample") {
    const auto want = band_of_tone(0.1, kQuarter, 100000);
    CHECK(want.size() > 2500);
    CHECK(band_of_tone(0.1, kQuarter, 1) == want);
    CHECK(band_of_tone(0.1, kQuarter, 769) == want);
}

TEST_CASE("stretch spectra: a filter that is longer than stretches overlap is refused") {
    SpectrumBandConfig sharp = kQuarter;
    sharp.stop = sharp.pass + 0.005;
    CHECK_FALSE(SpectrumBand::fits(sharp));
    CHECK_THROWS_AS(SpectrumBand{sharp}, DspError);
    CHECK_THROWS_AS(StretchSpectra(8), DspError);
}

}  // namespace tidemill::dsp
