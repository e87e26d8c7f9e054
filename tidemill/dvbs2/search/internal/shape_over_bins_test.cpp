#include "tidemill/dvbs2/search/internal/shape_over_bins.hpp"

#include <cmath>
#include <random>
#include <vector>

#include <doctest/doctest.h>
#include <hwy/highway.h>
#include <hwy/targets.h>

namespace tidemill::dvbs2::internal {
namespace {

// Carriers and what lies between them, 90 dB apart, each bin with its chance.
ObservedSpectrum rough_spectrum(std::size_t bins, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    ObservedSpectrum spectrum{.stretches = 200, .bin_hz = 1};
    double level = 1;
    for (std::size_t k = 0; k < bins; ++k) {
        if (random() % 50 == 0) level = std::pow(10, static_cast<double>(random() % 90) / 10 - 4.5);
        const double chance = static_cast<double>(random() % 1000) / 1000 - 0.5;
        spectrum.power.push_back(level * (1 + 0.2 * chance));
    }
    return spectrum;
}

}  // namespace

TEST_CASE("shape over bins: every target says what the textbook says of each bin") {
    for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
        hwy::SetSupportedTargetsForTest(target);
        CAPTURE(hwy::TargetName(target));
        ShapeOverBins over;
        std::size_t alike = 0;
        for (const std::size_t bins : {0U, 1U, 40U, 517U, 2048U}) {
            const ObservedSpectrum spectrum = rough_spectrum(bins, bins);
            for (const CarrierShape shape : {CarrierShape{24, 0.25}, CarrierShape{95.7, 0.05},
                                             CarrierShape{48.3, 0.35}, CarrierShape{700, 0.25}}) {
                const auto fits = over.fit(shape, spectrum);
                REQUIRE(fits.size() == bins);
                for (std::size_t k = 0; k < bins; ++k) {
                    const ShapeFit textbook = shape.fit(spectrum, static_cast<double>(k));
                    CAPTURE(bins);
                    CAPTURE(k);
                    CHECK(fits[k].likeness == doctest::Approx(textbook.likeness).epsilon(1e-7));
                    CHECK(fits[k].level == doctest::Approx(textbook.level).epsilon(1e-7));
                    CHECK(fits[k].beyond_chance == doctest::Approx(textbook.beyond_chance).epsilon(1e-7));
                    alike += textbook.likeness > 0.5 ? 1 : 0;
                }
            }
        }
        CHECK(alike > 20);
    }
    hwy::SetSupportedTargetsForTest(0);
}

TEST_CASE("sliding sums: what a strong value was part of leaves nothing behind") {
    std::vector<double> values(100, 1), sums;
    values[30] = 1e20;
    for (const std::size_t width : {1U, 3U, 7U, 64U, 100U}) {
        sliding_sums(values, width, sums);
        REQUIRE(sums.size() == values.size() - width + 1);
        for (std::size_t k = 0; k < sums.size(); ++k) {
            CAPTURE(width);
            CAPTURE(k);
            const bool has_it = k <= 30 && 30 < k + width;
            CHECK(sums[k] == (has_it ? 1e20 : static_cast<double>(width)));
        }
    }
}

}  // namespace tidemill::dvbs2::internal
