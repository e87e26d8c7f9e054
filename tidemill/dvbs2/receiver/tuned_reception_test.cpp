#include <algorithm>
#include <cmath>
#include <memory>
#include <numbers>
#include <vector>

#include <doctest/doctest.h>

#include "tidemill/dvbs2/dvbs2_error.hpp"
#include "tidemill/dvbs2/receiver/testing/tuned_signal.hpp"

namespace tidemill::dvbs2 {
namespace {

using namespace internal;

}  // namespace

TEST_CASE("tuned reception: from 1.27 to 300 samples a symbol, beside a radio's DC, nothing is lost") {
    for (const double ratio : {1.27, 1.6, 2.0, 2.4, 4.0, 7.3, 19.2, 300.0}) {
        CAPTURE(ratio);
        const double rate = 125e3, offset = std::min(0.3 * (ratio - 1.25), 3.2) * rate;
        const BandConfig config{.sample_rate_hz = ratio * rate, .seconds = 0.7, .dc = {2, -1}};
        const MadeBand band =
            make_band(config, std::vector{BandCarrier{.symbol_rate_hz = rate, .offset_hz = offset}});
        const auto received =
            receive_tuned(band, config.sample_rate_hz, {.symbol_rate_hz = rate, .offset_hz = offset});
        CHECK(frames_lost(band, received, 7) < 4);
        CHECK(received.report.totals.frames_bad == 0);
        CHECK(received.report.totals.esn0_db() > 9.8);
    }
}

TEST_CASE(
    "tuned reception: neighbours of +6 and +20 dB, on one or both sides, cost no packet and next to no "
    "noise") {
    for (const Beside& c : {Beside{2.5, 0.20, 1.25, 6, 1, 1},
                            {4, 0.20, 1.25, 20, 1, 1},
                            {4, 0.25, 1.25, 20, 0, 1},
                            {20, 0.35, 1.4, 20, 1, 1}}) {
        CAPTURE(c.ratio);
        CAPTURE(c.rolloff);
        CAPTURE(c.level_db);
        const ReceivedBeside received = receive_beside(c);
        CHECK(std::abs(received.off_hz) < 0.01e6);
        CHECK(received.frames_lost < 4);
        CHECK(received.frames_bad == 0);
        CHECK(received.esn0_db > 9.9);
    }
}

TEST_CASE("tuned reception: where a recording ends within a block, its end is no tone") {
    constexpr double kRate = 333e3, kOffset = 200e3;
    const BandConfig config{.sample_rate_hz = 2.4e6, .seconds = 0.2, .esn0_db = 8};
    const MadeBand whole =
        make_band(config, std::vector{BandCarrier{.symbol_rate_hz = kRate, .offset_hz = kOffset}});
    for (std::size_t cut = 0; cut < 40; ++cut) {
        CAPTURE(cut);
        MadeBand band = whole;
        band.samples.resize(whole.samples.size() - 1234 * cut);
        const Tuning tuning{.symbol_rate_hz = kRate, .offset_hz = kOffset};
        CHECK(receive_tuned(band, config.sample_rate_hz, tuning).report.tones_hz.empty());
    }
}

TEST_CASE(
    "tuned reception: behind digital silence of any length, what the filter makes of its end is no signal") {
    constexpr double kRate = 400e3, kOffset = 136e3;
    const BandConfig config{.sample_rate_hz = 2e6, .seconds = 0.3, .esn0_db = 35};
    const MadeBand made =
        make_band(config, std::vector{BandCarrier{.symbol_rate_hz = kRate, .offset_hz = kOffset}});
    for (const std::size_t silence :
         {10'000U, 20'000U, 70'000U, 123'456U, 200'000U, 400'000U, 500'000U, 1'000'000U}) {
        CAPTURE(silence);
        MadeBand band{std::vector<dsp::Iq>(silence), made.packets};
        band.samples.insert(band.samples.end(), made.samples.begin(), made.samples.end());
        const auto received =
            receive_tuned(band, config.sample_rate_hz, {.symbol_rate_hz = kRate, .offset_hz = kOffset});
        CHECK(frames_lost(band, received, 7) < 4);
        CHECK(received.report.totals.frames_bad == 0);
        CHECK(received.report.totals.esn0_db() > 30);
        CHECK(received.report.tones_hz.empty());
    }
}

TEST_CASE("tuned reception: a carrier about the middle, alone, is received without a tuner") {
    for (const double ratio : {2.0, 2.7, 8.0, 16.0}) {
        const BandConfig config{.sample_rate_hz = ratio * 1e6, .seconds = 0.02, .dc = {1, 0}};
        const MadeBand band = make_band(config, std::vector{BandCarrier{.offset_hz = 0.1e6}});
        const auto bytes = as_ci16(band.samples);
        io::MemoryReader look(bytes, dsp::SampleFormat::ci16, config.sample_rate_hz);
        const TuningPlan plan = plan_tuning(look, {.symbol_rate_hz = 1e6});
        CHECK(plan.seen.has_value());
        CHECK_FALSE(plan.tuning.has_value());
    }
}

TEST_CASE("tuned reception: where a carrier is named and hidden, no other one is taken for it") {
    const MadeBand band = make_band({.sample_rate_hz = 8e6, .seconds = 0.02},
                                    std::vector{BandCarrier{.symbol_rate_hz = 1e6, .offset_hz = 600e3}});
    const auto bytes = as_ci16(band.samples);
    const auto tuned_to = [&](double offset_hz) {
        io::MemoryReader look(bytes, dsp::SampleFormat::ci16, 8e6);
        return plan_tuning(look, {.symbol_rate_hz = 1e6, .offset_hz = offset_hz}).tuning.value().offset_hz;
    };
    CHECK(tuned_to(1.4e6) == doctest::Approx(600e3).epsilon(0.05));
    CHECK(tuned_to(-1e6) == -1e6);
}

TEST_CASE(
    "tuned reception: a tuner that is moved to its carrier by hand receives it, and tells where that is") {
    const MadeBand band = make_band({.sample_rate_hz = 2e6, .seconds = 0.6, .esn0_db = 11},
                                    std::vector{BandCarrier{.symbol_rate_hz = 250e3, .offset_hz = 300e3}});
    const std::vector<std::byte> bytes = as_ci16(band.samples);
    const auto source = tuned(bytes, 2e6, {.symbol_rate_hz = 250e3, .offset_hz = 80e3});
    std::size_t received = 0;
    Receiver receiver(*source, {.symbol_rate_hz = 250e3, .tuned_hz = 80e3},
                      [&](std::span<const std::uint8_t> packets) { received += packets.size(); });
    const auto controls = source->controls();
    REQUIRE(controls.size() == 1);
    CHECK(controls[0].name == "offset_hz");
    CHECK(controls[0].most == 330e3);
    source->control(0, 300e3);
    Sequence(receiver.graph()).run();
    CHECK(received > 100 * io::kTsPacketBytes);
    CHECK(receiver.now().frequency_hz == doctest::Approx(300e3).epsilon(0.001));
}

TEST_CASE("tuned reception: a pass overhead, 3 kHz/s at 250 kBd, is followed along its track without loss") {
    constexpr double kRate = 250e3, kSampleRate = 1e6, kMiddle_s = 0.75;
    MadeBand band = make_band({.sample_rate_hz = kSampleRate, .seconds = 1.5, .esn0_db = 9},
                              std::vector{BandCarrier{.symbol_rate_hz = kRate, .offset_hz = 50e3}});
    const auto hz_at = [](double time_s) { return -25e3 * std::tanh((time_s - kMiddle_s) / 8.3); };
    double cycles = 0;
    std::vector<DopplerTrack::Point> points;
    for (std::size_t n = 0; n < band.samples.size(); ++n) {
        const double time_s = static_cast<double>(n) / kSampleRate;
        if (n % 100000 == 0) points.push_back({time_s, hz_at(time_s)});
        band.samples[n] *= dsp::Iq(std::polar(1.0, 2 * std::numbers::pi * cycles));
        cycles += hz_at(time_s) / kSampleRate;
        cycles -= std::floor(cycles);
    }
    Tuning tuning{.symbol_rate_hz = kRate, .offset_hz = 50e3};
    tuning.doppler = std::make_shared<const DopplerTrack>(points);
    const auto received = receive_tuned(band, kSampleRate, tuning);
    CHECK(frames_lost(band, received, 7) < 4);
    CHECK(received.report.totals.frames_bad == 0);
    CHECK(std::abs(received.report.frequency_hz) < 100);  // from where it would lie
}

TEST_CASE("tuned reception: what a source gives at a time does not change a sample") {
    const MadeBand band = make_band({.sample_rate_hz = 2.4e6, .seconds = 0.01}, std::vector{BandCarrier{}});
    const auto bytes = as_ci16(band.samples);
    const auto all_of = [&](std::size_t piece) {
        const auto source = tuned(bytes, 2.4e6, {.symbol_rate_hz = 1e6, .offset_hz = 1e5});
        std::vector<std::byte> all, some(piece);
        while (const std::size_t got = source->read(some))
            all.insert(all.end(), some.begin(), some.begin() + static_cast<std::ptrdiff_t>(got));
        return all;
    };
    const auto want = all_of(1 << 20);
    CHECK(want.size() > 20000 * sizeof(dsp::Iq));
    CHECK(all_of(sizeof(dsp::Iq)) == want);
    CHECK(all_of(1000) == want);
}

TEST_CASE("tuned reception: rates at which it cannot be are refused with the least that serves") {
    const auto refusal = [](double sample_rate_hz, const Tuning& tuning) -> std::string {
        try {
            check_tuning(sample_rate_hz, tuning);
        } catch (const Dvbs2Error& error) {
            return error.what();
        }
        return {};
    };
    CHECK(refusal(1.26e6, {.symbol_rate_hz = 1e6}).empty());
    CHECK(refusal(1.25e6, {.symbol_rate_hz = 1e6}).find("at 1.26M samples/s or more") != std::string::npos);
    CHECK(refusal(1.41e6, {.symbol_rate_hz = 1e6, .rolloff = 0.35}).find("1.4175M") != std::string::npos);
    CHECK(refusal(20e9, {.symbol_rate_hz = 1e6}).empty());
    CHECK(refusal(21e9, {.symbol_rate_hz = 1e6}).find("at most 20000 times") != std::string::npos);
    CHECK(refusal(4e6, {.symbol_rate_hz = 1e6, .offset_hz = 1.6e6}).find("beyond") != std::string::npos);
}

}  // namespace tidemill::dvbs2
