#include "tidemill/dvbs2/front/coarse_frequency.hpp"

#include <cmath>
#include <vector>

#include <doctest/doctest.h>

#include "tidemill/dvbs2/front/testing/front_signal.hpp"

namespace tidemill::dvbs2 {
namespace {

FrontConfig config_of(const SignalSpec& spec) {
    return {spec.sps, 1.0, spec.rolloff};
}

}  // namespace

TEST_CASE("front: the frequency is found within 0.3 % of the symbol rate, at 0 dB as at 20 dB") {
    for (const double esn0_db : {0.0, 20.0}) {
        double worst = 0.0;
        for (std::uint64_t seed = 1; seed <= 5; ++seed) {
            const double cfo = -0.12 + 0.04 * static_cast<double>(seed);
            const SignalSpec spec{
                .symbols = esn0_db > 10.0 ? 50000U : 110000U, .cfo = cfo, .esn0_db = esn0_db, .seed = seed};
            const FrontGeometry geometry(config_of(spec));
            CoarseFrequencyEstimator coarse(geometry);
            std::vector<Iq> window = make_signal(spec).samples;
            window.insert(window.begin(), geometry.history_samples(), Iq{});
            const std::size_t length = geometry.history_samples() + geometry.block_samples();
            for (std::int64_t block = 0; !coarse.found(); ++block) {
                const std::size_t start = static_cast<std::size_t>(block) * geometry.block_samples();
                REQUIRE(start + length <= window.size());
                coarse.step(measure_spectrum(geometry, block, std::span(window).subspan(start, length), 1));
            }
            worst = std::max(worst, std::abs(coarse.frequency() - cfo));
        }
        CAPTURE(esn0_db);
        CHECK(worst < 0.003);
        CHECK(worst > 0.0);
    }
}

TEST_CASE("front: at -2.35 dB noise does not hurry the oscillator") {
    const SignalSpec spec{.symbols = 65536};
    const FrontGeometry geometry(config_of(spec));
    const std::vector<Iq> clean = make_signal(spec).samples;
    const std::size_t length = geometry.history_samples() + geometry.block_samples();
    const float deviation = std::pow(10.0F, 0.1175F);  // -2.35 dB at two samples per symbol
    std::mt19937_64 random(8);
    std::normal_distribution<float> normal(0, deviation);
    std::vector<Iq> window(length);
    const auto next_window = [&](std::size_t start) {
        std::move(window.end() - static_cast<std::ptrdiff_t>(geometry.history_samples()), window.end(),
                  window.begin());
        for (std::size_t i = geometry.history_samples(); i < length; ++i) {
            window[i] = clean[(start + i) % clean.size()] + Iq{normal(random), normal(random)};
        }
    };
    CoarseFrequencyEstimator coarse(geometry);
    double fastest = 0;  // cycles per symbol squared
    for (std::int64_t block = 0; block < 300; ++block) {
        next_window(static_cast<std::size_t>(block) * geometry.block_samples());
        const bool followed = coarse.found();
        const double before = coarse.frequency();
        coarse.step(measure_spectrum(geometry, block, window, followed ? kFollowedChunks : 1));
        const double moved = std::abs(coarse.frequency() - before);
        if (followed) fastest = std::max(fastest, 2 * moved / geometry.block_samples());
    }
    CHECK(coarse.found());
    CHECK(fastest < 2e-9);
}

}  // namespace tidemill::dvbs2
