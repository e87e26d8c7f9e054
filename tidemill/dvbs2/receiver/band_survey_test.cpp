#include "tidemill/dvbs2/receiver/band_survey.hpp"

#include <cmath>
#include <memory>
#include <span>
#include <vector>

#include <doctest/doctest.h>

#include "tidemill/dsp/gaussian_noise.hpp"
#include "tidemill/dvbs2/receiver/testing/made_signal.hpp"
#include "tidemill/dvbs2/send/frame_modulator.hpp"
#include "tidemill/dvbs2/send/pulse_shaper.hpp"
#include "tidemill/dvbs2/standard/pl_scrambler.hpp"
#include "tidemill/io/live/stream_reader.hpp"

namespace tidemill::dvbs2 {
namespace {

// All that a band of 4 MS/s shows.
std::vector<SurveyedCarrier> survey_of(std::span<const dsp::Iq> samples) {
    const auto open = [&] {
        return std::make_unique<io::MemoryReader>(std::as_bytes(samples), dsp::SampleFormat::cf32, 4e6);
    };
    return survey_band(open, find_carriers(*open()), SurveyDepth::frames, 1, [](std::size_t) {});
}

std::vector<dsp::Iq> dummy_frames(int count) {
    const std::vector<dsp::Iq> frame = dummy_plframe(PlScrambler(0));
    PulseShaper shaper(4, 0.20);
    std::vector<dsp::Iq> samples;
    for (int k = 0; k < count; ++k) {
        const auto shaped = shaper.process(frame);
        samples.insert(samples.end(), shaped.begin(), shaped.end());
    }
    return samples;
}

}  // namespace

TEST_CASE("band survey: a carrier behind an echo is one, whatever its spectrum falls into") {
    for (const Echo& echo : {Echo{3.3, -3, 1}, Echo{10, -6, 1}}) {
        CAPTURE(echo.delay_symbols);
        CAPTURE(echo.gain_db);
        const auto made = internal::make_reception(
            {4, FrameSize::short_, true}, 16,
            {.esn0_db = 9, .frequency_cycles_per_symbol = 0.15, .rate_ratio = 2, .echoes = {echo}});
        const auto carriers = survey_of(made.samples);
        REQUIRE(carriers.size() == 1);
        CHECK(carriers[0].kind == CarrierKind::dvbs2);
        CHECK(std::abs(carriers[0].symbol_rate_hz - 1e6) < 20);
        CHECK(std::abs(carriers[0].offset_hz - 150e3) < 200);
    }
}

TEST_CASE("band survey: a carrier of nothing but dummy frames is one, and is told to be idle") {
    std::vector<dsp::Iq> samples = dummy_frames(60);
    dsp::add_gaussian_noise(1, 0, 0.7F, samples);
    const auto carriers = survey_of(samples);
    REQUIRE(carriers.size() == 1);
    CHECK(carriers[0].kind == CarrierKind::dvbs2_idle);
    CHECK(std::abs(carriers[0].symbol_rate_hz - 1e6) < 20);
    CHECK(std::abs(carriers[0].offset_hz) < 50e3);
}

}  // namespace tidemill::dvbs2
