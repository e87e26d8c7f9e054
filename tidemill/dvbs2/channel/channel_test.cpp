#include "tidemill/dvbs2/channel/channel.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <initializer_list>
#include <limits>
#include <numbers>
#include <vector>

#include <doctest/doctest.h>

#include "tidemill/dvbs2/dvbs2_error.hpp"

namespace tidemill::dvbs2 {
namespace {

using dsp::Iq;

// A tone of power 1, `frequency` in cycles per sample, at any place between its samples too.
Iq tone_at(double frequency, double place) {
    return Iq(std::polar(1.0, 2.0 * std::numbers::pi * frequency * place));
}

std::vector<Iq> tone(double frequency, std::size_t samples) {
    std::vector<Iq> x(samples);
    for (std::size_t n = 0; n < samples; ++n) {
        x[n] = tone_at(frequency, static_cast<double>(n));
    }
    return x;
}

std::vector<Iq> received(const ChannelConfig& config, std::span<const Iq> x, std::size_t piece) {
    Channel channel(config);
    std::vector<Iq> y;
    for (std::size_t i = 0; i < x.size(); i += piece) {
        channel.process(x.subspan(i, std::min(piece, x.size() - i)), y);
    }
    channel.finish(y);
    return y;
}

double power(std::span<const Iq> x) {
    double sum = 0;
    for (const auto sample : x) {
        sum += std::norm(sample);
    }
    return sum / static_cast<double>(x.size());
}

double error_db(std::span<const Iq> x, auto expected) {
    double sum = 0;
    for (std::size_t n = 0; n < x.size(); ++n) {
        sum += std::norm(x[n] - expected(n));
    }
    return 10.0 * std::log10(sum / static_cast<double>(x.size()) + 1e-30);
}

}  // namespace

TEST_CASE("channel: without impairments samples pass as they are") {
    const auto x = tone(0.1, 1000);
    CHECK(received({}, x, 1000) == x);
}

TEST_CASE("channel: noise has the variance of the Es/N0, and lead and tail hold nothing else") {
    for (const double rate_ratio : {1.0, 1.35}) {
        ChannelConfig config;
        config.esn0_db = 6.0;
        config.rate_ratio = rate_ratio;
        config.lead_samples = 30000;
        config.tail_samples = 40000;
        const std::vector<Iq> silence(100000);
        const auto y = received(config, silence, 5000);
        // 2 samples per symbol of power 1: a symbol's energy is 2, more after the change of rate.
        const double n0 = 2.0 * rate_ratio * std::pow(10.0, -0.6);
        CHECK(power(y) == doctest::Approx(n0).epsilon(0.02));
        CHECK(power(std::span(y).first(30000)) == doctest::Approx(n0).epsilon(0.03));
        CHECK(power(std::span(y).last(40000)) == doctest::Approx(n0).epsilon(0.03));
        CHECK(y.size() >= 70000 + static_cast<std::size_t>(rate_ratio * 100000));
    }
}

TEST_CASE("channel: the pieces in which the signal comes do not matter") {
    ChannelConfig config;
    config.esn0_db = 3.0;
    config.frequency_cycles_per_symbol = 0.05;
    config.delay_symbols = 0.37;
    config.clock_offset_ppm = 40.0;
    config.phase_noise_deg = 3.0;
    config.echoes = {{7.3, -6.0, 1.0}, {0.5, -12.0, 0.0}};
    config.dropouts = {{100.0, 33.3}, {2400.0, 500.0}};
    config.iq_offset = {0.1F, 0.2F};
    config.iq_gain_db = 1.0;
    config.lead_samples = 77;
    config.tail_samples = 33;
    const auto x = tone(0.05, 5000);
    const auto whole = received(config, x, x.size());
    for (const std::size_t piece : {1U, 333U, 4096U}) {
        CHECK(received(config, x, piece) == whole);
    }
}

TEST_CASE("channel: frequency, drift, phase and inversion turn the samples as they say") {
    ChannelConfig config;
    config.frequency_cycles_per_symbol = 0.07;
    config.drift_cycles_per_symbol2 = 1e-6;
    config.phase_rad = 0.5;
    const auto x = tone(0.0, 20000);
    const auto expected = [](std::size_t n) {
        const double t = static_cast<double>(n) / 2.0;
        return Iq(std::polar(1.0, 2.0 * std::numbers::pi * (0.07 * t + 0.5e-6 * t * t) + 0.5));
    };
    CHECK(error_db(received(config, x, 999), expected) < -100.0);
    config.inverted_spectrum = true;
    CHECK(error_db(received(config, x, 999), [&](std::size_t n) { return std::conj(expected(n)); }) < -100.0);
}

TEST_CASE("channel: delay, clock offset and rate move every frequency of the signal alike, 65 dB exact") {
    for (const double rate_ratio : {1.0, 1.35}) {
        ChannelConfig config;
        config.delay_symbols = 0.37;
        config.clock_offset_ppm = 40.0;
        config.rate_ratio = rate_ratio;
        for (const double frequency : {0.0, 0.1, -0.3, 0.35}) {
            CAPTURE(frequency);
            const auto y = received(config, tone(frequency, 20000), 777);
            const auto expected = [&](std::size_t n) {
                const double place = static_cast<double>(n + 200) / (rate_ratio * 1.00004) - 2.0 * 0.37;
                return tone_at(frequency, place);
            };
            CHECK(error_db(std::span(y).subspan(200, 19000), expected) < -65.0);
        }
    }
}

TEST_CASE("channel: an echo comes as late, as strong and as turned as it says, and outlasts the signal") {
    ChannelConfig config;
    config.echoes = {{10.0, -6.0, 0.5}, {3.25, -20.0, -1.0}};
    const auto x = tone(0.1, 4000);
    const auto y = received(config, x, 333);
    const auto expected = [&](std::size_t n) {
        const auto place = static_cast<double>(n + 100);
        const auto echo = [&](double late, double db, double phase) {
            return Iq(std::polar(std::pow(10.0, db / 20), phase)) * tone_at(0.1, place - late);
        };
        return tone_at(0.1, place) + echo(20.0, -6.0, 0.5) + echo(6.5, -20.0, -1.0);
    };
    CHECK(error_db(std::span(y).subspan(100, 3800), expected) < -65.0);
    REQUIRE(y.size() > 4020);
    CHECK(power(std::span(y).subspan(4000, 20)) == doctest::Approx(std::pow(10.0, -0.6)).epsilon(0.05));
}

TEST_CASE("channel: in a dropout nothing arrives but noise") {
    ChannelConfig config;
    config.dropouts = {{500.0, 250.0}, {1900.0, 1e9}};
    const auto x = tone(0.1, 4000);
    auto expected = x;
    std::fill(expected.begin() + 1000, expected.begin() + 1500, Iq{});
    std::fill(expected.begin() + 3800, expected.end(), Iq{});
    CHECK(received(config, x, 777) == expected);
    config.esn0_db = 0.0;
    const auto y = received(config, x, 777);
    CHECK(power(std::span(y).subspan(1000, 500)) == doctest::Approx(2.0).epsilon(0.15));
}

TEST_CASE("channel: the receiver's I and Q get an offset, a gain and an angle") {
    ChannelConfig config;
    config.iq_offset = {0.25F, -0.5F};
    config.iq_gain_db = 2.0;
    config.iq_angle_deg = 5.0;
    const auto x = tone(0.1, 500);
    const double gain = std::pow(10.0, 0.1), angle = 5.0 * std::numbers::pi / 180.0;
    const auto expected = [&](std::size_t n) {
        const double i = x[n].real(), q = x[n].imag();
        return Iq(static_cast<float>(0.25 + i),
                  static_cast<float>(-0.5 + gain * (q * std::cos(angle) + i * std::sin(angle))));
    };
    CHECK(error_db(received(config, x, 99), expected) < -120.0);
}

TEST_CASE("channel: phase noise walks by its standard deviation in 1000 symbols") {
    ChannelConfig config;
    config.phase_noise_deg = 6.0;
    const auto y = received(config, tone(0.0, 400000), 4096);
    double sum = 0;
    int steps = 0;
    for (std::size_t n = 2000; n < y.size(); n += 2000) {
        const double walked_deg = std::arg(y[n] * std::conj(y[n - 2000])) * 180.0 / std::numbers::pi;
        sum += walked_deg * walked_deg;
        ++steps;
    }
    CHECK(std::sqrt(sum / steps) == doctest::Approx(6.0).epsilon(0.15));
}

TEST_CASE(
    "channel: pulses take the share of time and have the level that was asked for, at the same places for "
    "any "
    "cut of the input") {
    for (const bool at_random : {false, true}) {
        ChannelConfig config;
        config.disturbances.pulses = {1000, 100, 20, at_random};
        const auto y = received(config, std::vector<Iq>(400000), 4096);
        const auto hit = std::ranges::count_if(y, [](Iq x) { return x != Iq{}; });
        CHECK(hit == doctest::Approx(0.1 * static_cast<double>(y.size())).epsilon(0.002));
        double power = 0;
        for (const Iq x : y) power += std::norm(x);
        CHECK(power / static_cast<double>(hit) == doctest::Approx(100).epsilon(0.03));
        CHECK(received(config, std::vector<Iq>(400000), 777) == y);
    }
}

TEST_CASE("channel: a tone has its frequency, its level and its drift") {
    ChannelConfig config;
    config.disturbances.tones = {{0.1, 3, 2e-6}};
    const auto y = received(config, std::vector<Iq>(20000), 999);
    const double level = std::pow(10, 0.15);
    CHECK(error_db(y, [&](std::size_t n) {
              const double t = static_cast<double>(n) / 2;
              return Iq(std::polar(level, 2 * std::numbers::pi * (0.1 * t + 1e-6 * t * t)));
          }) < -60);
}

TEST_CASE(
    "channel: the gain goes up and down in turn, with fading the signal's alone, and lost samples are gone") {
    ChannelConfig config;
    config.disturbances.steps = {1000, 6};
    config.disturbances.lost = {{100, 50}, {5000, 1}};
    auto y = received(config, std::vector<Iq>(12000, {1, 0}), 512);
    REQUIRE(y.size() == 12000 - 51);
    CHECK(std::abs(y[2000 - 51]) == doctest::Approx(1));
    CHECK(std::abs(y[2000 - 50]) == doctest::Approx(1.9953).epsilon(1e-3));
    CHECK(std::abs(y[4000 - 51]) == doctest::Approx(1.9953).epsilon(1e-3));
    CHECK(std::abs(y[4000 - 50]) == doctest::Approx(1));
    config = {};
    config.disturbances.fading = {1000, 6};
    y = received(config, std::vector<Iq>(4000, {1, 0}), 512);
    CHECK(std::abs(y[500]) == doctest::Approx(1.9953).epsilon(1e-3));
    CHECK(std::abs(y[1500]) == doctest::Approx(1 / 1.9953).epsilon(1e-3));
}

TEST_CASE("channel: a sweep goes from one end to the other, fastest in its middle") {
    ChannelConfig config;
    config.disturbances.sweep = {0.1, 5000, 20000};
    const auto y = received(config, std::vector<Iq>(80000, {1, 0}), 512);
    const auto frequency = [&](std::size_t n) {
        return std::arg(y[n + 1] * std::conj(y[n])) / std::numbers::pi;  // cycles per symbol
    };
    CHECK(frequency(0) == doctest::Approx(0.1).epsilon(0.01));
    CHECK(std::abs(frequency(40000)) < 1e-3);
    CHECK(frequency(50000) == doctest::Approx(-0.1 * std::tanh(1.0)).epsilon(0.02));
    CHECK(frequency(79990) == doctest::Approx(-0.1).epsilon(0.01));
}

TEST_CASE("channel: a clock that drifts reads a tone at ever other frequencies") {
    ChannelConfig config;
    config.clock_drift_ppm_per_symbol = 0.5;
    const auto y = received(config, tone(0.1, 40000), 999);
    const auto turn_at = [&](std::size_t n) {
        return std::arg(y[n + 1] * std::conj(y[n])) / (2 * std::numbers::pi);  // cycles per sample
    };
    for (const std::size_t place : {500U, 10000U, 20000U, 39000U}) {
        const double ppm = 0.5 * static_cast<double>(place) / 2;
        CHECK(turn_at(place) == doctest::Approx(0.1 / (1 + 1e-6 * ppm)).epsilon(3e-4));
    }
}

TEST_CASE("channel: a gain that ripples moves signal and noise alike") {
    ChannelConfig config;
    config.esn0_db = 3;
    const std::vector<Iq> sent(4000, {1, 0});
    const auto steady = received(config, sent, 512);
    config.disturbances.gain_ripple = {1000, 6};
    const auto rippled = received(config, sent, 512);
    CHECK(std::abs(rippled[500] / steady[500]) == doctest::Approx(1.9953).epsilon(1e-3));
    CHECK(std::abs(rippled[1500] / steady[1500]) == doctest::Approx(1 / 1.9953).epsilon(1e-3));
    CHECK(std::abs(rippled[2000] / steady[2000]) == doctest::Approx(1).epsilon(1e-3));
}

TEST_CASE("channel: an oscillator that warms up settles exponentially") {
    ChannelConfig config;
    config.disturbances.warm_up = {-0.1, 5000};
    const auto y = received(config, std::vector<Iq>(80000, {1, 0}), 512);
    const auto frequency = [&](std::size_t n) {
        return std::arg(y[n + 1] * std::conj(y[n])) / std::numbers::pi;  // cycles per symbol
    };
    CHECK(frequency(0) == doctest::Approx(-0.1).epsilon(0.01));
    CHECK(frequency(10000) == doctest::Approx(-0.1 * std::exp(-1.0)).epsilon(0.01));
    CHECK(std::abs(frequency(79990)) < 1e-3);
}

TEST_CASE("channel: what no channel does is refused with the value's name, what it is and what it may be") {
    struct Wrong {
        const char* words;
        void (*change)(ChannelConfig&);
    };
    constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    for (const auto& [words, change] : std::initializer_list<Wrong>{
             {"samples_per_symbol is 0: give one from 1 to 20000", [](auto& c) { c.samples_per_symbol = 0; }},
             {"samples_per_symbol is nan", [](auto& c) { c.samples_per_symbol = kNan; }},
             {"rate_ratio is 0.5: give one from 1 to 10000 (more", [](auto& c) { c.rate_ratio = 0.5; }},
             {"clock_drift_ppm_per_symbol is 2", [](auto& c) { c.clock_drift_ppm_per_symbol = 2; }},
             {"clock_offset_ppm is inf", [](auto& c) { c.clock_offset_ppm = kInfinity; }},
             {"lead_samples is 1e+18: give one from 0 to 100000000",
              [](auto& c) { c.lead_samples = 1'000'000'000'000'000'000; }},
             {"tail_samples", [](auto& c) { c.tail_samples = 1'000'000'000; }},
             {"esn0_db is -1e+09: give one from -100 on", [](auto& c) { c.esn0_db = -1e9; }},
             {"esn0_db is nan", [](auto& c) { c.esn0_db = kNan; }},
             {"frequency_cycles_per_symbol is 1.5: give one from -1 to 1 (half the sample rate)",
              [](auto& c) { c.frequency_cycles_per_symbol = 1.5; }},
             {"drift_cycles_per_symbol2", [](auto& c) { c.drift_cycles_per_symbol2 = 1; }},
             {"phase_rad", [](auto& c) { c.phase_rad = 1e30; }},
             {"phase_noise_deg", [](auto& c) { c.phase_noise_deg = -1; }},
             {"delay_symbols is -1", [](auto& c) { c.delay_symbols = -1; }},
             {"delay_symbols is 1e+09: give one from 0 to 50000000 (1e8 samples at the most)",
              [](auto& c) { c.delay_symbols = 1e9; }},
             {"iq_offset.real",
              [](auto& c) {
                  c.iq_offset = {INFINITY, 0};
              }},
             {"iq_offset.imag",
              [](auto& c) {
                  c.iq_offset = {0, NAN};
              }},
             {"iq_gain_db", [](auto& c) { c.iq_gain_db = 1e9; }},
             {"iq_angle_deg is 90", [](auto& c) { c.iq_angle_deg = 90; }},
             {"echoes.delay_symbols is -1",
              [](auto& c) {
                  c.echoes = {{1, -10, 0}, {-1, -10, 0}};
              }},
             {"echoes.gain_db",
              [](auto& c) {
                  c.echoes = {{1, kNan, 0}};
              }},
             {"echoes.phase_rad",
              [](auto& c) {
                  c.echoes = {{1, -10, kInfinity}};
              }},
             {"dropouts.begin_symbols",
              [](auto& c) {
                  c.dropouts = {{-1, 1}};
              }},
             {"dropouts.symbols is 0: give one from 0.5",
              [](auto& c) {
                  c.dropouts = {{0, 0}};
              }},
             {"pulses.every_symbols is 0",
              [](auto& c) {
                  c.disturbances.pulses = {0, 10, 10};
              }},
             {"pulses.symbols is 11: give one from 0 to 10 (no longer than from one to the next)",
              [](auto& c) {
                  c.disturbances.pulses = {10, 11, 0};
              }},
             {"pulses.gain_db is nan",
              [](auto& c) {
                  c.disturbances.pulses = {10, 1, kNan};
              }},
             {"tones.cycles_per_symbol",
              [](auto& c) {
                  c.disturbances.tones = {{-1e6, 3, 0}};
              }},
             {"tones.gain_db",
              [](auto& c) {
                  c.disturbances.tones = {{0, 1e3, 0}};
              }},
             {"tones.drift_cycles_per_symbol2",
              [](auto& c) {
                  c.disturbances.tones = {{0, 0, kNan}};
              }},
             {"steps.every_symbols is 0",
              [](auto& c) {
                  c.disturbances.steps = {0, 6};
              }},
             {"steps.gain_db", [](auto& c) { c.disturbances.steps = {100, 1000}; }},
             {"fading.period_symbols is 0", [](auto& c) { c.disturbances.fading = {0, 6}; }},
             {"fading.gain_db", [](auto& c) { c.disturbances.fading = {100, 1000}; }},
             {"gain_ripple.period_symbols is 0", [](auto& c) { c.disturbances.gain_ripple = {0, 6}; }},
             {"warm_up.symbols is 0", [](auto& c) { c.disturbances.warm_up = {0.1, 0}; }},
             {"phase_mask.cycles_per_symbol", [](auto& c) { c.phase_mask = {{0.1, -50}, {0.1, -60}}; }},
             {"sweep.cycles_per_symbol", [](auto& c) { c.disturbances.sweep = {1e3, 1, 1}; }},
             {"sweep.symbols is 1e-300", [](auto& c) { c.disturbances.sweep = {0.1, 1e-300, 0}; }},
             {"sweep.middle_symbols", [](auto& c) { c.disturbances.sweep = {0.1, 1, kInfinity}; }},
             {"lost.samples is 0: give one from 1 on", [](auto& c) {
                  c.disturbances.lost = {{5, 0}};
              }}}) {
        ChannelConfig config;
        change(config);
        CHECK_THROWS_WITH_AS(Channel{config}, doctest::Contains(words), Dvbs2Error);
    }
}

TEST_CASE("channel: the extremes of what a channel does are finite") {
    ChannelConfig config;
    config.esn0_db = -100;
    config.echoes = {{0, 100, 10}};
    config.iq_gain_db = 100;
    config.disturbances.pulses = {1, 1, 100};
    config.disturbances.tones = {{1, 100, 1e-3}};
    config.disturbances.steps = {1, 100};
    config.disturbances.fading = {1, 100};
    config.disturbances.sweep = {1, 0.5, -1e12};
    config.disturbances.gain_ripple = {1, 100};
    config.disturbances.warm_up = {1, 0.5};
    for (const Iq sample : received(config, tone(0.1, 1000), 333))
        REQUIRE(std::isfinite(sample.real() + sample.imag()));
}

TEST_CASE("channel: lost samples may be told in any order, and reach beyond all that are received") {
    ChannelConfig config;
    config.disturbances.lost = {{700, std::numeric_limits<std::uint64_t>::max()}, {100, 50}};
    const auto x = tone(0.1, 1000);
    auto expected = x;
    expected.resize(700);
    expected.erase(expected.begin() + 100, expected.begin() + 150);
    CHECK(received(config, x, 333) == expected);
}

}  // namespace tidemill::dvbs2
