#include "tidemill/dvbs2/sync/header_search.hpp"

#include <algorithm>
#include <cmath>

#include <doctest/doctest.h>
#include <hwy/highway.h>
#include <hwy/targets.h>

#include "tidemill/dvbs2/standard/testing/test_frames.hpp"
#include "tidemill/dvbs2/sync/internal/header_correlation.hpp"

namespace tidemill::dvbs2 {
namespace {

using namespace internal;

TEST_CASE("header_search: on every target the correlation is that of the plain sums") {
    std::mt19937 random(41);
    const auto symbols = noise(400, 0, random);
    std::vector<float> re(symbols.size()), im(symbols.size());
    multiply_neighbours(symbols, re, im);
    for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
        hwy::SetSupportedTargetsForTest(target);
        for (const std::size_t count : {1U, 5U, 16U, 100U, 311U}) {
            std::vector<float> metric(count);
            const std::size_t planes = count + kHeaderSymbols - 1;
            correlate_headers(std::span(re).first(planes), std::span(im).first(planes), metric);
            CAPTURE(hwy::TargetName(target));
            for (std::size_t i = 0; i < count; ++i) {
                const HeaderSums sums = correlate_at(std::span(re).subspan(i), std::span(im).subspan(i));
                const float expected =
                    std::max(std::norm(sums.sof + sums.pls), std::norm(sums.sof - sums.pls));
                CHECK(metric[i] == doctest::Approx(expected).epsilon(1e-4));
            }
        }
    }
    hwy::SetSupportedTargetsForTest(0);
}

TEST_CASE("header_search: a header's correlation is the square of its 57 known products, for any code") {
    for (const int code : {0, 1, 53, 127}) {
        std::vector<Iq> symbols(header_symbols(code).begin(), header_symbols(code).end());
        std::vector<float> re(90), im(90), metric(1);
        multiply_neighbours(symbols, re, im);
        correlate_headers(re, im, metric);
        CHECK(metric[0] == doctest::Approx(57.0 * 57.0).epsilon(1e-4));
    }
}

TEST_CASE(
    "header_search: at -2.35 dB more than half of the headers stand out, and one place of noise in 200 "
    "does") {
    std::mt19937 random(42);
    HeaderSearch search;
    int found = 0;
    std::size_t false_places = 0;
    constexpr int kTrials = 150;
    for (int trial = 0; trial < kTrials; ++trial) {
        const auto header = header_symbols(trial % 128);
        std::vector<Iq> stream(1000);
        stream.insert(stream.end(), header.begin(), header.end());
        stream.resize(2000);
        // Data symbols of the same strength around the header.
        for (std::size_t i = 0; i < stream.size(); ++i) {
            if (i < 1000 || i >= 1090) {
                stream[i] = std::polar(1.0F, static_cast<float>(random() % 4) * 1.5707963F + 0.785F);
            }
        }
        std::vector<std::size_t> places;
        const auto heard = transmit(stream, {.esn0_db = -2.35, .frequency = 0.1}, random);
        CHECK(search.scan(heard, places) == 2000 - 89);
        const bool there = std::ranges::count(places, 1000U) == 1;
        found += there ? 1 : 0;
        false_places += places.size() - (there ? 1 : 0);
    }
    CHECK(found > kTrials * 0.5);
    CHECK(static_cast<double>(false_places) / (kTrials * 1911.0) < 1 / 200.0);
}

TEST_CASE("header_search: a header is read with any offset to 0.1 and either sense of the spectrum") {
    std::mt19937 random(43);
    for (const double frequency : {-0.1, -0.0512, 0.0, 0.0033, 0.1}) {
        for (const bool inverted : {false, true}) {
            int right = 0;
            for (int trial = 0; trial < 100; ++trial) {
                const int code = static_cast<int>(random() % 128);
                const std::vector<Iq> header(header_symbols(code).begin(), header_symbols(code).end());
                auto heard = transmit(header, {.esn0_db = 1, .frequency = frequency}, random);
                if (inverted) {
                    std::ranges::transform(heard, heard.begin(), [](Iq s) { return std::conj(s); });
                }
                const HeaderHit hit = examine_header(std::span(heard).first<kHeaderSymbols>());
                const bool close = std::abs(hit.frequency - frequency) < 0.003;
                right += hit.code == code && hit.inverted == inverted && close ? 1 : 0;
            }
            CAPTURE(frequency);
            CAPTURE(inverted);
            CHECK(right >= 97);
        }
    }
}

}  // namespace
}  // namespace tidemill::dvbs2
