#include "tidemill/apps/reception/signal_level.hpp"

#include <cmath>
#include <random>
#include <vector>

#include <doctest/doctest.h>

namespace tidemill::cli {
namespace {

std::vector<dsp::Iq> noise(std::size_t count, double power, unsigned seed) {
    std::vector<dsp::Iq> samples(count);
    if (power == 0) return samples;
    std::mt19937 random(seed);
    std::normal_distribution<float> gauss(0, static_cast<float>(std::sqrt(power / 2)));
    for (dsp::Iq& sample : samples) sample = {gauss(random), gauss(random)};
    return samples;
}

double level_db(const std::vector<std::vector<dsp::Iq>>& parts) {
    SignalLevel level;
    for (const auto& part : parts) level.take(part);
    return 10 * std::log10(level.power());
}

}  // namespace

TEST_CASE("signal level: noise before a signal, behind it and between its bursts does not count") {
    const auto signal = noise(40000, 0.5, 1);
    const double alone_db = level_db({signal});
    CHECK(alone_db == doctest::Approx(-3.01).epsilon(0.02));
    for (const double noise_power : {0.0, 1e-4, 0.02, 0.15}) {
        CAPTURE(noise_power);
        const auto rest = noise(300000, noise_power, 2);
        CHECK(std::abs(level_db({rest, signal}) - alone_db) < 0.1);
        CHECK(std::abs(level_db({rest, signal, rest, signal, rest}) - alone_db) < 0.1);
    }
}

TEST_CASE("signal level: few samples, and fading by a decibel, are taken as they are; silence has none") {
    CHECK(level_db({noise(500, 0.5, 3)}) == doctest::Approx(-3.01).epsilon(0.1));
    CHECK(level_db({noise(50000, 0.5, 3), noise(50000, 0.4, 4)}) ==
          doctest::Approx(10 * std::log10(0.45)).epsilon(0.02));
    SignalLevel silence;
    silence.take(std::vector<dsp::Iq>(5000));
    CHECK(silence.power() == 0);
    CHECK(SignalLevel().power() == 0);
}

}  // namespace tidemill::cli
