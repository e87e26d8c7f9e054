#include "tidemill/dvbs2/receiver/carrier_survey.hpp"

#include <array>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <numbers>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tidemill/dvbs2/receiver/testing/wide_band.hpp"
#include "tidemill/io/live/stream_reader.hpp"
#include "tidemill/io/recordings/recording_reader.hpp"

namespace tidemill::dvbs2 {
namespace {

using namespace internal;

std::vector<SurveyedCarrier> survey_all(const OpenSamples& open) {
    std::vector<SurveyedCarrier> carriers;
    for (const FoundCarrier& found : find_carriers(*open()).carriers)
        carriers.push_back(survey(open, found, SurveyDepth::frames));
    return carriers;
}

}  // namespace

TEST_CASE("carrier survey: each carrier of a band is told from the others") {
    const BandConfig config{.sample_rate_hz = 6e6, .seconds = 0.4, .esn0_db = 8};
    const MadeBand band = make_band(
        config,
        std::vector<BandCarrier>{
            {.symbol_rate_hz = 500e3, .offset_hz = -2e6},
            {.symbol_rate_hz = 500e3,
             .offset_hz = -1.37e6,
             .level_db = 12,
             .pls = {10, FrameSize::short_, true}},
            {.symbol_rate_hz = 800e3, .offset_hz = 1e6, .level_db = 3, .rolloff = 0.35, .framed = false},
            {.symbol_rate_hz = 250e3, .offset_hz = 2.2e6, .rolloff = 0.35}});
    const auto bytes = as_ci16(band.samples);
    const auto carriers = survey_all([&] {
        return std::make_unique<io::MemoryReader>(bytes, dsp::SampleFormat::ci16, config.sample_rate_hz);
    });
    REQUIRE(carriers.size() == 4);
    for (const std::size_t k : {0U, 1U, 3U}) {
        CAPTURE(k);
        CHECK(carriers[k].kind == CarrierKind::dvbs2);
        CHECK(carriers[k].streams.size() == 1);
        CHECK(carriers[k].esn0_db > 7.5);
    }
    CHECK(carriers[1].pls == Pls{10, FrameSize::short_, true});
    CHECK(std::abs(carriers[1].offset_hz + 1.37e6) < 20);
    CHECK(carriers[3].rolloff == 0.35);
    CHECK(carriers[2].kind == CarrierKind::other);
    CHECK(std::abs(carriers[2].symbol_rate_hz - 800e3) < 16);
}

TEST_CASE("carrier survey: DVB-S is told from other QPSK, with its code rate") {
    const BandConfig config{.sample_rate_hz = 6e6, .seconds = 0.25, .esn0_db = 11};
    const MadeBand band = make_band(
        config, std::vector<BandCarrier>{
                    {.symbol_rate_hz = 500e3, .offset_hz = -2.2e6, .rolloff = 0.35, .dvbs_rate = 2},
                    {.symbol_rate_hz = 500e3, .offset_hz = -1e6, .rolloff = 0.35, .framed = false},
                    {.symbol_rate_hz = 400e3, .offset_hz = 0.3e6, .rolloff = 0.35, .dvbs_rate = 0},
                    {.symbol_rate_hz = 600e3, .offset_hz = 1.9e6, .rolloff = 0.35, .dvbs_rate = 4}});
    const auto bytes = as_ci16(band.samples);
    const auto carriers = survey_all([&] {
        return std::make_unique<io::MemoryReader>(bytes, dsp::SampleFormat::ci16, config.sample_rate_hz);
    });
    REQUIRE(carriers.size() == 4);
    CHECK(carriers[0].kind == CarrierKind::dvbs);
    CHECK(carriers[0].dvbs_rate == "3/4");
    CHECK(carriers[1].kind == CarrierKind::other);
    CHECK(carriers[2].dvbs_rate == "1/2");
    CHECK(carriers[3].dvbs_rate == "7/8");
}

TEST_CASE("carrier survey: of twenty bands of noise, tones and their images, none has a carrier") {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        CAPTURE(seed);
        std::vector<dsp::Iq> samples(1 << 19);
        dsp::add_gaussian_noise(seed, 0, seed % 2 == 0 ? 1 : 0.01F, samples);
        for (std::uint64_t tone = 0; tone < seed % 5; ++tone) {
            const double cycles = -0.4 + 0.17 * static_cast<double>(tone) + 0.003 * static_cast<double>(seed);
            for (std::size_t n = 0; n < samples.size(); ++n) {
                const double turns = cycles * static_cast<double>(n);
                const auto phase = static_cast<float>(2 * std::numbers::pi * (turns - std::floor(turns)));
                samples[n] += std::polar(1.0F, phase) + std::polar(0.03F, -phase);
            }
        }
        const auto bytes = as_ci16(samples);
        CHECK(survey_all([&] {
                  return std::make_unique<io::MemoryReader>(bytes, dsp::SampleFormat::ci16, 2e6);
              }).empty());
    }
}

TEST_CASE("carrier survey: recordings of DVB-S2X are named so, 9 dB below the noise, too") {
    const char* const folder = std::getenv("TIDEMILL_TEST_DATA");
    if (!folder) {
        MESSAGE("skipped: TIDEMILL_TEST_DATA is not set");
        return;
    }
    struct Case {
        const char* name;
        int code;
    };
    for (const Case& c : {Case{"128apsk_7-9_short-cut", 203},
                          {"16apsk_32-45_short_mix", 245},
                          {"256apsk_3-4_mix", 215},
                          {"64apsk_11-15_clean", 187},
                          {"8apsk_5-9-L_awgn", 138},
                          {"qpsk_13-45_mix", 133},
                          {"vlsnr_qpsk_2-9_mix", 129},
                          {"vlsnr_bpsk-s_1-5_mix", 129}}) {
        CAPTURE(c.name);
        const auto recording =
            io::open_recording(std::string(folder) + "/iq/s2x/s2x_" + c.name + ".sigmf-meta");
        const auto carriers = survey_all([&] { return std::make_unique<io::RecordingReader>(recording); });
        REQUIRE(carriers.size() == 1);
        CHECK(carriers[0].kind == CarrierKind::dvbs2x);
        CHECK(carriers[0].header_code == c.code);
    }
}

}  // namespace tidemill::dvbs2
