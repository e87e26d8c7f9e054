#include "tidemill/dvbs2/tuner/carrier_follower.hpp"

#include <cmath>

#include <doctest/doctest.h>

#include "tidemill/dsp/rotator.hpp"
#include "tidemill/dvbs2/receiver/testing/wide_band.hpp"

namespace tidemill::dvbs2 {
namespace {

constexpr std::size_t kBlock = 8192;

struct Followed {
    double correction = 0;
    double largest_step = 0;  // of the correction, per symbol
};

// A carrier that lies at `first` and drifts, as the oscillator leaves it; all in cycles per symbol.
Followed follow(std::span<const Iq> carrier, double first, double drift, double symbols) {
    CarrierFollower follower(0.20, 2);
    dsp::AlignedVector<Iq> turned(kBlock);
    Followed seen;
    std::size_t at = 0;
    for (double now = 0; now < symbols; now += kBlock / 2.0) {
        const double before = follower.correction();
        const double frequency = (first + drift * now - before) / 2;
        dsp::rotate(carrier.subspan(at, kBlock), {0, frequency, 1}, turned);
        follower.add(turned);
        seen.largest_step =
            std::max(seen.largest_step, std::abs(follower.correction() - before) / (kBlock / 2.0));
        at = at + 2 * kBlock <= carrier.size() ? at + kBlock : 0;
    }
    seen.correction = follower.correction();
    return seen;
}

std::vector<Iq> carrier_samples() {
    auto made = internal::make_carrier({}, 0.2, 5).samples;
    dsp::add_gaussian_noise(2, 0, std::sqrt(2.0F) / 2, made);  // 3 dB
    return made;
}

}  // namespace

TEST_CASE(
    "carrier follower: a carrier that drifts for long stays in the middle, and moves no faster than "
    "allowed") {
    const std::vector<Iq> carrier = carrier_samples();
    for (const double drift : {1e-9, -0.5e-9}) {
        const Followed seen = follow(carrier, 0, drift, 6e7);
        CHECK(std::abs(seen.correction - drift * 6e7) < 0.02);
        CHECK(seen.largest_step <= 1.51e-9);
    }
}

TEST_CASE("carrier follower: what is near, and noise, are left where they are") {
    const std::vector<Iq> carrier = carrier_samples();
    CHECK(follow(carrier, 0.008, 0, 2e7).correction == 0);
    std::vector<Iq> noise(carrier.size());
    dsp::add_gaussian_noise(3, 0, 1, noise);
    CHECK(follow(noise, 0, 0, 2e7).correction == 0);
}

TEST_CASE("carrier follower: it works at every count of samples a symbol that a receiver takes") {
    const std::vector<Iq> samples(1 << 17);
    for (const double rolloff : {0.05, 0.20, 0.35})
        for (double count = 2; count <= 16; count += 0.37) {
            CAPTURE(count);
            CHECK_NOTHROW(CarrierFollower(rolloff, count).add(samples));
        }
}

}  // namespace tidemill::dvbs2
