#include "tidemill/dvbs2/front/agc_steps.hpp"

#include <cmath>
#include <vector>

#include <doctest/doctest.h>

#include "tidemill/dvbs2/receiver/testing/made_signal.hpp"

namespace tidemill::dvbs2 {
namespace {

constexpr std::size_t kWindow = 17000;
const FrontGeometry kGeometry({2, 1, 0.2, kMaxBlockSamples});

std::vector<Iq> window_of(int modcod, double esn0_db, std::uint64_t seed) {
    const Pls pls{modcod, FrameSize::short_, true};
    auto samples = internal::make_reception(pls, 4, {.esn0_db = esn0_db, .seed = seed}).samples;
    samples.resize(kWindow);
    return samples;
}

LevelStepList steps_in(std::span<const Iq> window, bool is_streams_first = false) {
    return AgcSteps(kGeometry).find(window, 0, window.size(), is_streams_first);
}

void scale(std::span<Iq> samples, double ratio) {
    for (Iq& x : samples) x *= static_cast<float>(ratio);
}

}  // namespace

TEST_CASE("level steps: a signal of one level has none, and hardly a window of it needs a closer look") {
    AgcSteps steps(kGeometry);
    for (const int modcod : {1, 7, 19, 27}) {
        for (const double esn0_db : {-2.0, 6.0, 30.0}) {
            const auto window = window_of(modcod, esn0_db, 3);
            CHECK_FALSE(steps.may_hold_one(window));
            CHECK(steps.find(window, 0, window.size(), false).count == 0);
        }
    }
}

TEST_CASE(
    "level steps: steps of 3 to 20 dB, up and down, are found to some samples, and their size to half a dB") {
    for (const double db : {-20.0, -6.0, -3.0, 3.0, 6.0, 20.0}) {
        for (const std::size_t place : {300U, 1500U, 9000U, 16700U}) {
            CAPTURE(db);
            CAPTURE(place);
            auto window = window_of(19, 12, place);
            scale(std::span(window).subspan(place), std::pow(10, db / 20));
            const LevelStepList found = steps_in(window);
            REQUIRE(found.count == 1);
            CHECK(std::abs(static_cast<double>(found.step[0].place) - static_cast<double>(place)) <= 12);
            CHECK(20 * std::log10(found.step[0].ratio) == doctest::Approx(db).epsilon(0.5 / std::abs(db)));
            const bool is_inside =
                place > 1000 && place < kWindow - 1000;  // others are seen by the window beside
            if (is_inside) CHECK(AgcSteps(kGeometry).may_hold_one(window));
        }
    }
}

TEST_CASE("level steps: two in a window are told one by one") {
    auto window = window_of(7, 8, 5);
    scale(std::span(window).subspan(4000, 6000), 2);
    const LevelStepList found = steps_in(window);
    REQUIRE(found.count == 2);
    CHECK(found.step[0].ratio == doctest::Approx(2).epsilon(0.05));
    CHECK(found.step[1].ratio == doctest::Approx(0.5).epsilon(0.05));
}

TEST_CASE("level steps: a signal that begins, ends or gets a neighbour is none, and silence is nothing") {
    auto begins = window_of(7, 12, 6);
    const auto noise = window_of(7, -60, 7);  // of a power of its own
    for (std::size_t n = 0; n < 8000; ++n) begins[n] = noise[n] * 1e-4F;
    CHECK(steps_in(begins).count == 0);
    auto neighbour = window_of(7, 12, 8);
    const auto other = window_of(14, 20, 9);
    for (std::size_t n = 9000; n < kWindow; ++n)
        neighbour[n] += 2.0F * other[n] * Iq(std::polar(1.0, dsp::kTwoPi * 0.3 * static_cast<double>(n)));
    CHECK(steps_in(neighbour).count == 0);
    auto silent = window_of(7, 12, 10);
    scale(std::span(silent).first(8000), 0);
    CHECK(steps_in(silent).count == 0);
    CHECK(steps_in(std::vector<Iq>(kWindow)).count == 0);
}

TEST_CASE("level steps: a signal that begins some dozen symbols behind the stream's first sample is none") {
    for (const std::size_t beside : {40U, 80U, 120U, 200U, 240U}) {  // samples, two a symbol
        CAPTURE(beside);
        auto begins = window_of(7, 12, beside);
        scale(std::span(begins).first(beside), 1e-3);  // what a filter brings out before the signal
        CHECK(steps_in(begins, /*is_streams_first=*/true).count == 0);
        // Nor does it hide one that is not.
        scale(std::span(begins).subspan(9000), 2);
        const LevelStepList found = steps_in(begins, /*is_streams_first=*/true);
        REQUIRE(found.count == 1);
        CHECK(std::abs(static_cast<double>(found.step[0].place) - 9000) <= 12);
    }
}

}  // namespace tidemill::dvbs2
