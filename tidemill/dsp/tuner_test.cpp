#include "tidemill/dsp/tuner.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <numbers>
#include <vector>

#include <doctest/doctest.h>

#include "tidemill/dsp/dsp_error.hpp"
#include "tidemill/dsp/half_band.hpp"
#include "tidemill/dsp/low_pass.hpp"
#include "tidemill/dsp/testing/every_target.hpp"

namespace tidemill::dsp {
namespace {

// A tone of amplitude 1.
std::vector<Iq> tone(std::size_t count, double frequency_hz, double sample_rate_hz) {
    std::vector<Iq> x(count);
    for (std::size_t n = 0; n < count; ++n) {
        const double cycles = frequency_hz * static_cast<double>(n) / sample_rate_hz;
        x[n] = Iq(std::polar(1.0, 2 * std::numbers::pi * (cycles - std::floor(cycles))));
    }
    return x;
}

std::vector<Iq> tuned(const TunerConfig& config, std::vector<Iq> x, std::size_t piece = 4096) {
    Tuner tuner(config);
    std::vector<Iq> y;
    for (std::size_t n = 0; n < x.size(); n += piece)
        tuner.process(std::span(x).subspan(n, std::min(piece, x.size() - n)), y);
    return y;
}

double power_db(std::span<const Iq> x) {
    double power = 1e-300;
    for (const Iq& sample : x) power += std::norm(std::complex<double>(sample));
    return 10 * std::log10(power / static_cast<double>(x.size()));
}

// Once the filters have settled.
std::span<const Iq> settled(std::span<const Iq> y) {
    REQUIRE(y.size() > 600);
    return y.subspan(300);
}

// Input samples that are enough for that.
std::size_t enough(const TunerConfig& config) {
    return static_cast<std::size_t>(1200 * config.sample_rate_hz / config.output_rate_hz) +
           BandSpectra::bins(config.sample_rate_hz);
}

// Level that a tone at `frequency_hz` of the input leaves.
double left_db(const TunerConfig& config, double frequency_hz) {
    return power_db(settled(tuned(config, tone(enough(config), frequency_hz, config.sample_rate_hz))));
}

}  // namespace

TEST_CASE("low_pass: the pass band is even to 0.02 dB, the stop band as far down as was asked") {
    const LowPass response(0.1, 0.15, 60);
    for (const double f : {0.0, 0.05, 0.1, 0.15, 0.2, 0.31, 0.5}) {
        double sum = 0;
        const auto reach = static_cast<int>(response.reach());
        for (int n = -reach; n <= reach; ++n) sum += response(n) * std::cos(2 * std::numbers::pi * f * n);
        CAPTURE(f);
        if (f <= 0.1) CHECK(std::abs(20 * std::log10(std::abs(sum))) < 0.02);
        if (f >= 0.15) CHECK(20 * std::log10(std::abs(sum)) < -59);
    }
}

TEST_CASE("half_band: every instruction set halves like the textbook filter, in pieces of any size") {
    const auto x = tone(3001, 0.043, 1);
    HalfBand whole(0.1, 80);
    AlignedVector<Iq> want;
    whole.process(x, want);
    CHECK(std::abs(power_db(std::span(want).subspan(64))) < 0.001);
    on_every_target([&] {
        for (const std::size_t piece : {1U, 2U, 7U, 64U, 1000U, 3001U}) {
            HalfBand half(0.1, 80);
            AlignedVector<Iq> got;
            for (std::size_t n = 0; n < x.size(); n += piece)
                half.process(std::span(x).subspan(n, std::min(piece, x.size() - n)), got);
            REQUIRE(got.size() == want.size());
            for (std::size_t n = 0; n < got.size(); ++n) CHECK(std::abs(got[n] - want[n]) < 1e-6F);
        }
    });
}

TEST_CASE("half_band: what would fold onto the band comes 80 dB down") {
    for (const double f : {0.4, 0.45, 0.5, -0.41}) {
        HalfBand half(0.1, 80);
        AlignedVector<Iq> y;
        half.process(tone(4000, f, 1), y);
        CHECK(power_db(std::span(y).subspan(64)) < -78);
    }
}

TEST_CASE("tuner: from any rate the wanted band comes to zero as it was, at the rate wanted") {
    for (const double ratio : {0.63, 0.8, 1.0, 1.2, 1.999, 2.0, 3.7, 8.0, 9.6, 100.3, 10000.0}) {
        CAPTURE(ratio);
        const TunerConfig config{.sample_rate_hz = 2e6 * ratio,
                                 .output_rate_hz = 2e6,
                                 .offset_hz = ratio > 1.5 ? 3e5 : 5e4,
                                 .pass_hz = 6e5};
        for (const double inside : {0.0, 2e5, -4e5, 5.9e5}) {
            CAPTURE(inside);
            if (inside == -config.offset_hz || std::abs(config.offset_hz + inside) > 1e6 * ratio) continue;
            CHECK(std::abs(left_db(config, config.offset_hz + inside)) < 0.05);
        }
        const auto y = tuned(config, tone(enough(config), config.offset_hz, config.sample_rate_hz));
        // A tone in the middle stands still, but for the mean that is taken out.
        const auto still = settled(y);
        CHECK(std::abs(still.back() - still.front()) < 1e-2F);
    }
}

TEST_CASE("tuner: what would fold onto the band, and what is to be stopped, comes far enough down") {
    const TunerConfig config{
        .sample_rate_hz = 9.3e6, .output_rate_hz = 2e6, .offset_hz = 1.1e6, .pass_hz = 6e5, .stop_hz = 6.5e5};
    for (double f = -4.6e6; f < 4.6e6; f += 0.05e6) {
        if (std::abs(f - config.offset_hz) < config.stop_hz || std::abs(f) < 1e4) continue;
        CAPTURE(f);
        const bool would_fold = std::abs(f - config.offset_hz) > config.output_rate_hz - config.pass_hz;
        CHECK(left_db(config, f) < (would_fold ? -75 : -59));
    }
}

TEST_CASE("tuner: a radio's offset is taken out before it is shifted") {
    const TunerConfig config{.sample_rate_hz = 8e6, .output_rate_hz = 2e6, .offset_hz = 3e5, .pass_hz = 6e5};
    auto x = tone(1 << 16, 1.5e5, 8e6);
    for (Iq& sample : x) sample += Iq(0.5F, -2);
    const auto y = tuned(config, x);
    const auto clean = tuned(config, tone(1 << 16, 1.5e5, 8e6));
    std::vector<Iq> rest(y.size());
    std::transform(y.begin(), y.end(), clean.begin(), rest.begin(), std::minus<>());
    CHECK(power_db(std::span(rest).subspan(300)) < -60);
}

TEST_CASE("tuner: in pieces of any size it gives the same, but for rounding") {
    const TunerConfig config{
        .sample_rate_hz = 9.3e6, .output_rate_hz = 2e6, .offset_hz = 1.1e6, .pass_hz = 6e5, .stop_hz = 7e5};
    const auto x = tone(20000, 1.3e6, 9.3e6);
    const auto want = tuned(config, x, 20000);
    for (const std::size_t piece : {1U, 13U, 500U}) {
        const auto got = tuned(config, x, piece);
        REQUIRE(got.size() == want.size());
        double worst = 0;
        // The mean of the samples so far is taken out, so that only later ones can be compared.
        for (std::size_t n = 1000; n < got.size(); ++n)
            worst = std::max(worst, static_cast<double>(std::abs(got[n] - want[n])));
        CHECK(worst < 0.01);
    }
}

TEST_CASE("tuner: to the end, all of the input comes out") {
    for (const double ratio : {0.8, 1.0, 3.7, 8.0, 300.0}) {
        CAPTURE(ratio);
        const TunerConfig config{.sample_rate_hz = 2e6 * ratio, .output_rate_hz = 2e6, .pass_hz = 6e5};
        auto x = tone(enough(config), 5e5, config.sample_rate_hz);
        Tuner tuner(config);
        std::vector<Iq> y;
        tuner.process(x, y);
        tuner.finish(y);
        const double energy = std::pow(10, power_db(y) / 10) * static_cast<double>(y.size());
        CHECK(energy * ratio / static_cast<double>(x.size()) > 0.99);
        CHECK(std::abs(y.back()) < 1e-3F);
    }
}

// By parts of a stretch, by some bins at once, and on to the band's other side.
TEST_CASE("tuner: when the band moves, through a stretch or from one to the next, the phase goes on") {
    const TunerConfig config{.sample_rate_hz = 8e6, .output_rate_hz = 2e6, .offset_hz = 1e5, .pass_hz = 6e5};
    BandTuner tuner(config);
    BandSpectra band(config.sample_rate_hz);
    auto x = tone(8 * tuner.bins(), 1e5, config.sample_rate_hz);
    AlignedVector<Iq> spectra;
    band.process(x, spectra);
    std::vector<Iq> y;
    std::vector<double> expected{};  // cycles from one sample to the next
    for (std::size_t k = 0; k < spectra.size() / tuner.bins(); ++k) {
        const double away = std::array{0.0, 300.0, 1500.0, -40e3, 200e3, -1e5}[k % 6];
        const std::vector<double> offsets{1e5 + away, 1e5 + 1.02 * away, 1e5 + 1.04 * away};
        const std::size_t before = y.size();
        tuner.process(std::span(spectra).subspan(k * tuner.bins(), tuner.bins()), offsets, y);
        const std::size_t count = y.size() - before;
        for (std::size_t n = 0; n < count; ++n)
            for (std::size_t part = 0; part < 3; ++part)
                if (n >= count * part / 3 && n < count * (part + 1) / 3)
                    expected.push_back(-(offsets[part] - 1e5) / config.output_rate_hz);
    }
    double worst = 0;
    for (std::size_t n = 1000; n + 1 < y.size(); ++n) {
        const double turned = std::arg(y[n + 1] * std::conj(y[n])) / (2 * std::numbers::pi);
        worst = std::max(worst, std::abs(turned - expected[n]));
    }
    CHECK(worst < 2e-3);
}

TEST_CASE("tuner: bands that cannot be are refused") {
    CHECK_THROWS_AS(Tuner({.sample_rate_hz = 1e6, .output_rate_hz = 2e6, .pass_hz = 6e5}), DspError);
    CHECK_THROWS_AS(Tuner({.sample_rate_hz = 4e6, .output_rate_hz = 2e6, .pass_hz = 6e5, .stop_hz = 5e5}),
                    DspError);
    CHECK_THROWS_AS(Tuner({.sample_rate_hz = 1e13, .output_rate_hz = 2e6, .pass_hz = 6e5}), DspError);
    CHECK_THROWS_AS(Tuner({.sample_rate_hz = 1.2000001e6, .output_rate_hz = 2e6, .pass_hz = 6e5}), DspError);
    CHECK_THROWS_AS(Tuner({.sample_rate_hz = NAN, .output_rate_hz = 2e6, .pass_hz = 6e5}), DspError);
}

}  // namespace tidemill::dsp
