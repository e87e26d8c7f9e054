#include "tidemill/dvbs2/sync/internal/drift_watch.hpp"

#include <cmath>
#include <random>

#include <doctest/doctest.h>

#include "tidemill/dsp/iq.hpp"

namespace tidemill::dvbs2::internal {

namespace {

// Pilot blocks of a frame whose carrier drifts, each summed up by its phase.
std::vector<KnownPart> drifting_pilots(double drift, int blocks = 6) {
    std::vector<KnownPart> parts;
    for (int block = 0; block < blocks; ++block) {
        const double place = 1476.0 * block;
        KnownPart part{};
        part.place = place;
        part.sum = std::polar(36.0, dsp::kTwoPi * 0.5 * drift * place * place);
        parts.push_back(part);
    }
    return parts;
}

}  // namespace

TEST_CASE("drift watch: pilots on a parabola tell the drift, and how sure it is") {
    for (const double drift : {5e-8, -2e-8, 0.0}) {
        CAPTURE(drift);
        DriftWatch watch;
        for (int frame = 0; frame < 4; ++frame) watch.add(drifting_pilots(drift), 0, 4);
        const DriftWatch::Found found = watch.by_pilots();
        CHECK(std::abs(found.drift - drift) < 1e-10);
        CHECK(found.sigma > 0);
        CHECK(found.sigma < 1e-8);
    }
}

TEST_CASE("drift watch: noisy pilots tell the drift as well as they say, within a third") {
    constexpr double kEsn0 = 1.12, kDrift = 6e-9;
    constexpr int kTrials = 300;
    std::mt19937 random(5);
    std::normal_distribution<double> phase(0, 1 / std::sqrt(2 * 36 * kEsn0));
    double square = 0, sigma = 0;
    for (int trial = 0; trial < kTrials; ++trial) {
        DriftWatch watch;
        for (int frame = 0; frame < 4; ++frame) {
            auto parts = drifting_pilots(kDrift, 22);
            for (KnownPart& part : parts) part.sum *= std::polar(1.0, phase(random));
            watch.add(parts, 0, kEsn0);
        }
        const DriftWatch::Found found = watch.by_pilots();
        square += std::pow(found.drift - kDrift, 2) / kTrials;
        sigma += found.sigma / kTrials;
    }
    CHECK(std::sqrt(square) < sigma);
    CHECK(std::sqrt(square) > 0.66 * sigma);
}

TEST_CASE("drift watch: whole turns that pilots leave open are decided by headers, or left open") {
    constexpr double kFrame = 8370, kSure = 1e-7, kUnsure = 1e-6;
    for (const double drift : {4.6e-7, -4.6e-7, 2.3e-7, -2.3e-7, 1e-6, 3e-8, 0.0}) {
        CAPTURE(drift);
        for (const double variance : {kSure, kUnsure}) {
            DriftWatch watch;
            watch.add(drifting_pilots(drift), 0, 4);
            for (const double place : {0.0, kFrame})
                watch.add_header({place, 0.01 + drift * place, variance, 0, 0});
            const DriftWatch::Found found = watch.by_pilots();
            CHECK(found.open == (variance == kUnsure && drift != 0 && std::abs(drift) != 3e-8));
            if (!found.open) CHECK(std::abs(found.drift - drift) < 1e-10);
        }
    }
}

TEST_CASE("drift watch: what noisy pilots show for a drift must last, or it is left open") {
    constexpr double kFrame = 33282, kDrift = 2.5e-8;
    for (const double lasting : {kDrift, 0.0}) {
        CAPTURE(lasting);
        std::mt19937 random(9);
        std::normal_distribution<double> step(0, 0.4);
        DriftWatch watch;
        for (int frame = 0; frame < 5; ++frame) {
            auto parts = drifting_pilots(kDrift, 22);
            double phase = 0;
            for (KnownPart& part : parts) part.sum *= std::polar(1.0, phase += step(random));
            watch.add(parts, 0, 4);
            for (const double place : {kFrame * frame, kFrame * (frame + 1)})
                watch.add_header({place, 0.01 + lasting * place, 1e-7, 0, 0});
        }
        const DriftWatch::Found found = watch.by_pilots();
        CHECK(found.open == (lasting == 0));
        if (!found.open) CHECK(found.drift == doctest::Approx(kDrift).epsilon(0.2));
    }
}

TEST_CASE("drift watch: headers on a line tell the drift, and too few of them nothing") {
    constexpr double kDrift = 2e-8;
    DriftWatch watch;
    for (int header = 0; header < 10; ++header) {
        CHECK((watch.by_headers().sigma == 1) == (header < 3));
        const double place = 8190.0 * header;
        watch.add_header({place, 0.01 + kDrift * place, 1e-10, 0, 0});
    }
    const DriftWatch::Found found = watch.by_headers();
    CHECK(found.drift == doctest::Approx(kDrift));
    CHECK(found.frequency == doctest::Approx(0.01 + kDrift * found.place));
}

TEST_CASE("drift watch: a line of headers is as long as the drift is the same") {
    constexpr double kFrame = 32490, kLine = 2e-9, kBend = 1.5e-13;
    DriftWatch straight, bent;
    for (int header = 0; header < 17; ++header) {
        const double place = kFrame * header;
        straight.add_header({place, kLine * place, 1e-8, 0, 0});
        bent.add_header({place, kBend / 2 * place * place, 1e-8, 0, 0});
    }
    CHECK(straight.by_headers().span == 16 * kFrame);
    CHECK(straight.by_headers().drift == doctest::Approx(kLine));
    CHECK(bent.by_headers().span < 8 * kFrame);
    CHECK(bent.by_headers().drift == doctest::Approx(kBend * bent.by_headers().place));
}

TEST_CASE("drift watch: headers that lie on no line tell no drift") {
    DriftWatch watch;
    for (int header = 0; header < 10; ++header)
        watch.add_header({8190.0 * header, header % 2 == 0 ? 0.01 : -0.01, 1e-10, 0, 0});
    CHECK(watch.by_headers().sigma == 1);
}

}  // namespace tidemill::dvbs2::internal
