#include "tidemill/dvbs2/search/symbol_rate_search.hpp"

#include <cmath>
#include <vector>

#include <doctest/doctest.h>

#include "tidemill/dsp/gaussian_noise.hpp"
#include "tidemill/dvbs2/channel/channel.hpp"
#include "tidemill/dvbs2/receiver/testing/made_signal.hpp"

namespace tidemill::dvbs2 {

TEST_CASE("symbol rate search: the clearest line is the symbol rate, at any ratio, near every threshold") {
    struct Case {
        Pls pls;
        double rate_ratio, esn0_db;
    };
    for (const Case& c : {Case{{1, FrameSize::short_, true}, 1.0, -2.0},
                          {{1, FrameSize::short_, true}, 1.37, -2.0},
                          {{13, FrameSize::short_, true}, 1.7, 6.0},
                          {{27, FrameSize::short_, false}, 3.1, 16.0}}) {
        ChannelConfig channel{.esn0_db = c.esn0_db,
                              .frequency_cycles_per_symbol = 0.07,
                              .clock_offset_ppm = 30,
                              .rate_ratio = c.rate_ratio};
        const std::size_t frames = c.pls.modcod == 1 ? 40 : 60;
        const auto made = internal::make_reception(c.pls, frames, channel);
        const auto rates = likely_symbol_rates(made.samples, 3);
        CAPTURE(c.rate_ratio);
        REQUIRE_FALSE(rates.empty());
        const double expected = 1 / (2 * c.rate_ratio * (1 + 30e-6));
        CHECK(std::abs(rates[0] / expected - 1) < 20e-6);
    }
}

TEST_CASE("symbol rate search: what pulses a little faster than once in two samples is taken for that") {
    for (const double ppm : {-10.0, -130.0}) {
        const ChannelConfig channel{.esn0_db = 6, .clock_offset_ppm = ppm};
        const auto rates = likely_symbol_rates(
            internal::make_reception({7, FrameSize::short_, true}, 60, channel).samples, 3);
        CAPTURE(ppm);
        REQUIRE_FALSE(rates.empty());
        CHECK(rates[0] == 0.5);
    }
}

TEST_CASE("symbol rate search: about known, a rate is found to some millionths, near every threshold") {
    struct Case {
        Pls pls;
        double off, esn0_db;
    };
    for (const Case& c : {Case{{1, FrameSize::short_, true}, 1.0, -2.0},
                          {{13, FrameSize::short_, true}, 1.04, 6.0},
                          {{27, FrameSize::short_, false}, 0.96, 16.0}}) {
        CAPTURE(c.off);
        const ChannelConfig channel{.esn0_db = c.esn0_db,
                                    .frequency_cycles_per_symbol = 0.01,
                                    .clock_offset_ppm = 30,
                                    .rate_ratio = 1.2 * c.off};
        const auto made = internal::make_reception(c.pls, c.pls.modcod == 1 ? 40 : 60, channel);
        const auto rate = symbol_rate_near(made.samples, 1 / 2.4, 0.06);
        REQUIRE(rate.has_value());
        CHECK(std::abs(rate->per_sample * 2.4 * c.off * (1 + 30e-6) - 1) < 20e-6);
        CHECK_FALSE(symbol_rate_near(made.samples, c.off > 1 ? 0.43 : 0.40, 0.01).has_value());
    }
    std::vector<dsp::Iq> noise(1 << 18);
    dsp::add_gaussian_noise(3, 0, 1, noise);
    CHECK_FALSE(symbol_rate_near(noise, 1 / 2.4, 0.06).has_value());
    CHECK_FALSE(symbol_rate_near(std::span(noise).first(1000), 1 / 2.4, 0.06).has_value());
}

TEST_CASE("symbol rate search: pulses do not hide a rate") {
    ChannelConfig channel{.esn0_db = 6, .rate_ratio = 1.2};
    channel.disturbances.pulses = Pulses{10000, 100, 30};
    const auto made = internal::make_reception({7, FrameSize::short_, true}, 30, channel);
    const auto rates = likely_symbol_rates(made.samples, 1);
    REQUIRE_FALSE(rates.empty());
    CHECK(std::abs(rates[0] * 2.4 - 1) < 20e-6);
    const auto near = symbol_rate_near(made.samples, 1 / 2.4, 0.06);
    REQUIRE(near.has_value());
    CHECK(std::abs(near->per_sample * 2.4 - 1) < 20e-6);
}

TEST_CASE("symbol rate search: as fast at any level") {
    const ChannelConfig channel{.esn0_db = 6, .clock_offset_ppm = 30, .rate_ratio = 1.2};
    const auto made = internal::make_reception({13, FrameSize::short_, true}, 60, channel);
    for (const float level : {1e-19F, 1e-10F, 1e8F}) {
        CAPTURE(level);
        std::vector<dsp::Iq> samples = made.samples;
        for (dsp::Iq& sample : samples) sample *= level;
        const auto near = symbol_rate_near(samples, 1 / 2.4, 0.06);
        REQUIRE(near.has_value());
        CHECK(std::abs(near->per_sample * 2.4 * (1 + 30e-6) - 1) < 20e-6);
        const auto rates = likely_symbol_rates(samples, 1);
        REQUIRE(rates.size() == 1);
        CHECK(std::abs(rates[0] * 2.4 * (1 + 30e-6) - 1) < 20e-6);
    }
}

TEST_CASE("symbol rate search: noise has no symbol rate, nor have a few samples") {
    std::vector<dsp::Iq> samples(1 << 18);
    dsp::add_gaussian_noise(3, 0, 1, samples);
    CHECK(likely_symbol_rates(samples, 5).size() <= 1);
    CHECK(likely_symbol_rates(std::span(samples).first(1000), 5).empty());
}

}  // namespace tidemill::dvbs2
