#include "tidemill/dvbs2/search/band_carriers.hpp"

#include <cmath>
#include <cstdint>
#include <numbers>
#include <vector>

#include <doctest/doctest.h>

#include "tidemill/dvbs2/channel/disturbances.hpp"
#include "tidemill/dvbs2/receiver/testing/wide_band.hpp"
#include "tidemill/dvbs2/search/carrier_rates.hpp"
#include "tidemill/io/live/stream_reader.hpp"

namespace tidemill::dvbs2 {
namespace {

using namespace internal;

FoundBand found_in(std::span<const dsp::Iq> samples, double sample_rate_hz) {
    io::MemoryReader source(std::as_bytes(samples), dsp::SampleFormat::cf32, sample_rate_hz);
    return find_carriers(source);
}

void add_tone(std::vector<dsp::Iq>& samples, double cycles_per_sample, double amplitude) {
    std::vector<dsp::Iq> tone(samples.size(), dsp::Iq(1));
    dsp::rotate(tone, {0, cycles_per_sample, amplitude}, tone);
    for (std::size_t n = 0; n < samples.size(); ++n) samples[n] += tone[n];
}

}  // namespace

TEST_CASE("band carriers: wide and narrow, loud and weak ones are found, and how fast their symbols are") {
    const BandConfig config{.sample_rate_hz = 10e6, .seconds = 0.6, .esn0_db = 3, .dc = {2, 1}};
    const std::vector<BandCarrier> carriers{
        {.symbol_rate_hz = 333e3, .offset_hz = -4.5e6},
        {.symbol_rate_hz = 125e3, .offset_hz = -3.9e6, .level_db = 10},
        {.symbol_rate_hz = 125e3, .offset_hz = -3.7e6, .level_db = 1},
        {.symbol_rate_hz = 1e6, .offset_hz = -2.2e6, .level_db = 15},
        {.symbol_rate_hz = 66e3, .offset_hz = -1e6},
        {.symbol_rate_hz = 2e6, .offset_hz = 0.4e6, .level_db = 0, .rolloff = 0.35},
        {.symbol_rate_hz = 500e3, .offset_hz = 2.5e6, .framed = false},
        {.symbol_rate_hz = 500e3, .offset_hz = 3.15e6, .level_db = 6}};
    MadeBand band = make_band(config, carriers);
    add_tone(band.samples, 0.45, 0.5);
    const FoundBand found = found_in(band.samples, config.sample_rate_hz);
    REQUIRE(found.carriers.size() == carriers.size());
    io::MemoryReader source(std::as_bytes(std::span(band.samples)), dsp::SampleFormat::cf32,
                            config.sample_rate_hz);
    const auto rates = measure_symbol_rates(source, found.carriers);
    for (std::size_t k = 0; k < carriers.size(); ++k) {
        CAPTURE(k);
        const FoundCarrier& one = found.carriers[k];
        CHECK(std::abs(one.offset_hz - carriers[k].offset_hz) < 0.02 * carriers[k].symbol_rate_hz);
        CHECK(std::abs(one.symbol_rate_hz / carriers[k].symbol_rate_hz - 1) < 0.05);
        REQUIRE(rates[k].has_value());
        CHECK(std::abs(*rates[k] / carriers[k].symbol_rate_hz - 1) < 20e-6);
    }
    REQUIRE(found.tones_hz.size() == 1);
    CHECK(std::abs(found.tones_hz[0] - 4.5e6) < 2e3);
}

TEST_CASE("band carriers: little noise behind much silence holds none") {
    for (const std::size_t noisy : {2000, 20000, 100000, 400000}) {
        CAPTURE(noisy);
        std::vector<dsp::Iq> samples(2'500'000);
        dsp::add_gaussian_noise(1, 0, 1, std::span(samples).last(noisy));
        CHECK(found_in(samples, 1e6).carriers.empty());
    }
}

TEST_CASE("band carriers: noise, tones, a radio's DC and images hold none") {
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
        std::vector<dsp::Iq> samples(1 << 19, dsp::Iq(0.3F, -0.2F));
        dsp::add_gaussian_noise(seed, 0, 1, samples);
        CHECK(found_in(samples, 2e6).carriers.empty());
        add_tone(samples, 0.1, 3);
        add_tone(samples, -0.1, 0.05);
        CHECK(found_in(samples, 2e6).carriers.empty());
        CHECK(found_in(samples, 2e6).tones_hz.size() >= 1);
    }
    MadeBand band = make_band({.sample_rate_hz = 4e6, .seconds = 0.2, .esn0_db = 30},
                              std::vector{BandCarrier{.symbol_rate_hz = 0.5e6, .offset_hz = 1e6}});
    for (dsp::Iq& sample : band.samples) sample += 0.03F * std::conj(sample);
    CHECK(found_in(band.samples, 4e6).carriers.size() == 1);
    CHECK(found_in(std::vector<dsp::Iq>(100), 4e6).carriers.empty());
    CHECK(found_in({}, 4e6).carriers.empty());
}

TEST_CASE("band carriers: they are found at any level") {
    const MadeBand band = make_band({.sample_rate_hz = 2e6, .seconds = 0.2, .esn0_db = 10},
                                    std::vector{BandCarrier{.symbol_rate_hz = 0.5e6, .offset_hz = 0.3e6}});
    for (const float level : {1e-17F, 1e-9F, 1e8F}) {
        CAPTURE(level);
        std::vector<dsp::Iq> samples = band.samples;
        for (dsp::Iq& sample : samples) sample *= level;
        const FoundBand found = found_in(samples, 2e6);
        REQUIRE(found.carriers.size() == 1);
        CHECK(std::abs(found.carriers[0].offset_hz - 0.3e6) < 10e3);
    }
}

TEST_CASE("band carriers: a bump in a carrier's spectrum that chance might have made hides no carrier") {
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
        const MadeBand band =
            make_band({.sample_rate_hz = 2e6, .seconds = 1, .esn0_db = 14, .seed = seed},
                      std::vector{BandCarrier{.symbol_rate_hz = 400e3, .offset_hz = 100e3},
                                  BandCarrier{.symbol_rate_hz = 3.9e3, .offset_hz = 20e3, .level_db = -6}});
        const FoundBand found = found_in(band.samples, 2e6);
        REQUIRE(found.carriers.size() == 1);
        CHECK(std::abs(found.carriers[0].offset_hz - 100e3) < 8e3);
    }
}

TEST_CASE("band carriers: pulses hide no carrier and feign none") {
    for (const double gain_db : {20.0, 30.0}) {
        CAPTURE(gain_db);
        const Disturbances radar{.pulses = Pulses{10000, 100, gain_db}};
        MadeBand band = make_band({.sample_rate_hz = 2e6, .seconds = 0.3, .esn0_db = 9},
                                  std::vector{BandCarrier{.symbol_rate_hz = 0.5e6, .offset_hz = 0.3e6}});
        radar.add_to(band.samples, 0, 4, 1);
        const FoundBand found = found_in(band.samples, 2e6);
        REQUIRE(found.carriers.size() == 1);
        CHECK(std::abs(found.carriers[0].offset_hz - 0.3e6) < 10e3);
        std::vector<dsp::Iq> noise(1 << 19);
        dsp::add_gaussian_noise(1, 0, 1, noise);
        radar.add_to(noise, 0, 4, 1);
        CHECK(found_in(noise, 2e6).carriers.empty());
    }
}

TEST_CASE("band carriers: a tone hides no carrier that it lies in") {
    const MadeBand band = make_band({.sample_rate_hz = 2e6, .seconds = 0.3, .esn0_db = 9},
                                    std::vector{BandCarrier{.symbol_rate_hz = 0.5e6, .offset_hz = 0.3e6}});
    for (const double gain_db : {-10.0, -3.0, 3.0}) {
        CAPTURE(gain_db);
        std::vector<dsp::Iq> samples = band.samples;
        add_tone(samples, 0.175, std::pow(10, gain_db / 20));
        const FoundBand found = found_in(samples, 2e6);
        REQUIRE(found.carriers.size() == 1);
        CHECK(std::abs(found.carriers[0].offset_hz - 0.3e6) < 10e3);
        CHECK(std::abs(found.carriers[0].symbol_rate_hz / 0.5e6 - 1) < 0.05);
        CHECK(found.tones_hz.empty());
        CHECK(found.stretches.empty());
    }
}

TEST_CASE("band carriers: a stretch is told where a carrier has lost its shape, and nowhere else") {
    const BandConfig clean{.sample_rate_hz = 4e6, .seconds = 0.2, .esn0_db = 100};
    MadeBand band = make_band(clean, std::vector<BandCarrier>{{.symbol_rate_hz = 0.5e6, .offset_hz = -1e6},
                                                              {.symbol_rate_hz = 0.4e6, .offset_hz = -0.4e6},
                                                              {.symbol_rate_hz = 0.3e6, .offset_hz = 1.2e6}});
    const auto noisy = [](std::vector<dsp::Iq> samples) {
        dsp::add_gaussian_noise(1, 0, 1, samples);
        return samples;
    };
    CHECK(found_in(noisy(band.samples), 4e6).stretches.empty());
    MadeBand echoed =
        make_band(clean, std::vector<BandCarrier>{{.symbol_rate_hz = 0.5e6, .offset_hz = 0.4e6}});
    for (std::size_t n = echoed.samples.size(); n-- > 26;)  // 3.25 symbols late
        echoed.samples[n] += std::polar(0.5F, 1.0F) * echoed.samples[n - 26];
    for (std::size_t n = 0; n < band.samples.size(); ++n) band.samples[n] += echoed.samples[n];
    const FoundBand found = found_in(noisy(band.samples), 4e6);
    REQUIRE(found.stretches.size() == 1);
    CHECK(std::abs(found.stretches[0].offset_hz - 0.4e6) < 30e3);
    CHECK(std::abs(found.stretches[0].symbol_rate_hz / 0.5e6 - 1) < 0.15);
}

TEST_CASE("band carriers: a carrier that comes late is found, too") {
    const MadeBand band =
        make_band({.sample_rate_hz = 1e6, .seconds = 2.5, .esn0_db = 10},
                  std::vector{BandCarrier{.symbol_rate_hz = 100e3, .offset_hz = 200e3, .framed = false}});
    std::vector<dsp::Iq> samples(std::size_t{9} << 19);  // beyond what all of is looked at
    dsp::add_gaussian_noise(1, 0, 1, samples);
    samples.insert(samples.end(), band.samples.begin(), band.samples.end());
    const FoundBand found = found_in(samples, 1e6);
    REQUIRE(found.carriers.size() == 1);
    CHECK(std::abs(found.carriers[0].offset_hz - 200e3) < 2e3);
}

TEST_CASE("band carriers: what a clean pulse leaves all over a band without noise is none") {
    Transmitter transmitter({.pls = {6, FrameSize::short_, true}, .samples_per_symbol = 10});
    std::vector<dsp::Iq> samples;
    for (std::uint64_t frame = 0; samples.size() < 1 << 21; ++frame)
        transmitter.transmit(random_packets(100, frame), samples);
    CHECK(found_in(samples, 2e6).carriers.size() == 1);
}

TEST_CASE("band carriers: what quantisation leaves of a clean tone or of a constant are no tones") {
    std::vector<std::byte> tone, constant(1 << 19, std::byte{127});
    for (int n = 0; n < 1 << 18; ++n) {
        const double turn = 2 * std::numbers::pi * 0.1037 * n;
        tone.push_back(static_cast<std::byte>(static_cast<std::int8_t>(std::lround(100 * std::cos(turn)))));
        tone.push_back(static_cast<std::byte>(static_cast<std::int8_t>(std::lround(100 * std::sin(turn)))));
    }
    io::MemoryReader clean(tone, dsp::SampleFormat::ci8, 2e6), full(constant, dsp::SampleFormat::ci8, 2e6);
    const FoundBand found = find_carriers(clean);
    REQUIRE(found.tones_hz.size() == 1);
    CHECK(std::abs(found.tones_hz[0] - 207.4e3) < 300);
    CHECK(find_carriers(full).tones_hz.empty());
}

}  // namespace tidemill::dvbs2
