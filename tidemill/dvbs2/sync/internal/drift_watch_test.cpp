#include "tidemill/dvbs2/sync/internal/drift_watch.hpp"

#include <cmath>

#include <doctest/doctest.h>

#include "tidemill/dsp/iq.hpp"

namespace tidemill::dvbs2::internal {

namespace {

// Pilot blocks of a frame whose carrier drifts, each summed up by its phase.
std::vector<KnownPart> drifting_pilots(double drift) {
    std::vector<KnownPart> parts;
    for (int block = 0; block < 6; ++block) {
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

TEST_CASE("drift watch: headers that lie on no line tell no drift") {
    DriftWatch watch;
    for (int header = 0; header < 10; ++header)
        watch.add_header({8190.0 * header, header % 2 == 0 ? 0.01 : -0.01, 1e-10, 0, 0});
    CHECK(watch.by_headers().sigma == 1);
}

}  // namespace tidemill::dvbs2::internal
