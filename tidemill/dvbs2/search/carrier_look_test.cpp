#include "tidemill/dvbs2/search/carrier_look.hpp"

#include <cmath>
#include <vector>

#include <doctest/doctest.h>

#include "tidemill/dvbs2/channel/disturbances.hpp"
#include "tidemill/dvbs2/receiver/testing/wide_band.hpp"
#include "tidemill/io/live/stream_reader.hpp"

namespace tidemill::dvbs2 {
namespace {

using namespace internal;

std::optional<ObservedCarrier> look(const MadeBand& band, const BandConfig& config, const LookConfig& look) {
    io::MemoryReader source(std::as_bytes(std::span(band.samples)), dsp::SampleFormat::cf32,
                            config.sample_rate_hz);
    return look_for_carrier(source, look);
}

}  // namespace

TEST_CASE("carrier look: a carrier is seen where it lies, down to -2 dB, at any samples a symbol") {
    for (const double esn0_db : {-2.0, 3.0, 20.0}) {
        for (const double ratio : {1.27, 1.6, 2.0, 4.3, 20.0, 300.0}) {
            CAPTURE(esn0_db);
            CAPTURE(ratio);
            const double offset = 0.31e6 * (ratio - 1.26);
            const BandConfig config{
                .sample_rate_hz = 1e6 * ratio, .seconds = 0.02, .esn0_db = esn0_db, .dc = {3, 1}};
            const MadeBand band = make_band(config, std::vector{BandCarrier{.offset_hz = offset}});
            const auto seen = look(band, config, {.symbol_rate_hz = 1e6, .near_hz = 0.97 * offset});
            REQUIRE(seen.has_value());
            CHECK(std::abs(seen->offset_hz - offset) < 0.01e6);
            CHECK(seen->neighbour_hz == 0);
        }
    }
}

TEST_CASE("carrier look: louder neighbours, wider and narrower carriers and tones are not taken for it") {
    const BandConfig config{.sample_rate_hz = 12e6, .seconds = 0.02, .esn0_db = 3};
    const MadeBand band = make_band(
        config, std::vector<BandCarrier>{{.offset_hz = -1e6},
                                         {.offset_hz = 0.25e6, .level_db = 20},
                                         {.symbol_rate_hz = 2e6, .offset_hz = 3e6},
                                         {.symbol_rate_hz = 0.7e6, .offset_hz = -4e6, .level_db = 6},
                                         {.symbol_rate_hz = 1.5e3, .offset_hz = -3e6, .level_db = 30}});
    const auto seen = look(band, config, {.symbol_rate_hz = 1e6, .near_hz = -2e6});
    REQUIRE(seen.has_value());
    CHECK(std::abs(seen->offset_hz + 1e6) < 0.01e6);
    CHECK(seen->neighbour_hz > 0.6e6);
    CHECK(seen->neighbour_hz < 0.72e6);
    CHECK(seen->others_db > 19);
    const auto wide = look(band, config, {.symbol_rate_hz = 2e6, .near_hz = -2e6});
    REQUIRE(wide.has_value());
    CHECK(std::abs(wide->offset_hz - 3e6) < 0.02e6);
    CHECK_FALSE(look(band, config, {.symbol_rate_hz = 1.4e6}).has_value());
}

TEST_CASE(
    "carrier look: a clear carrier that is alone shows in its first few symbols, noise looks like none") {
    for (const double ratio : {1.27, 2.0, 4.3, 20.0}) {
        CAPTURE(ratio);
        const double offset = 0.31e6 * (ratio - 1.26);
        BandConfig config{.sample_rate_hz = 1e6 * ratio, .seconds = 0.02, .dc = {3, 1}};
        const auto seen_at = [&](double esn0_db, std::vector<BandCarrier> carriers) {
            config.esn0_db = esn0_db;
            MadeBand band = make_band(config, carriers);
            band.samples.resize(static_cast<std::size_t>(kFirstLookSymbols * ratio));
            return look(band, config, {.symbol_rate_hz = 1e6, .near_hz = 0.97 * offset});
        };
        for (const double esn0_db : {9.0, 20.0}) {
            const auto seen = seen_at(esn0_db, {{.offset_hz = offset}});
            REQUIRE(seen.has_value());
            CHECK(seen->is_clear());
            CHECK(std::abs(seen->offset_hz - offset) < 0.012e6);
        }
        const auto weak = seen_at(2, {{.offset_hz = offset}});
        CHECK_FALSE((weak && weak->is_clear()));
        if (ratio < 4) continue;
        const auto beside = seen_at(20, {{.offset_hz = offset}, {.offset_hz = offset - 1.3e6}});
        CHECK_FALSE((beside && beside->is_clear()));
    }
    MadeBand noise;
    noise.samples.resize(static_cast<std::size_t>(4 * kFirstLookSymbols));
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
        dsp::add_gaussian_noise(seed, 0, 1, noise.samples);
        CHECK_FALSE(look(noise, {.sample_rate_hz = 4e6}, {.symbol_rate_hz = 1e6}).has_value());
    }
}

TEST_CASE("carrier look: pulses do not hide a carrier") {
    const BandConfig config{.sample_rate_hz = 4e6, .seconds = 0.02, .esn0_db = 9};
    for (const double gain_db : {20.0, 30.0}) {
        CAPTURE(gain_db);
        MadeBand band = make_band(config, std::vector{BandCarrier{.offset_hz = 0.6e6}});
        Disturbances{.pulses = Pulses{10000, 100, gain_db}}.add_to(band.samples, 0, 4, 1);
        const auto seen = look(band, config, {.symbol_rate_hz = 1e6, .near_hz = 0.5e6});
        REQUIRE(seen.has_value());
        CHECK(std::abs(seen->offset_hz - 0.6e6) < 0.01e6);
        CHECK(seen->neighbour_hz == 0);
    }
}

TEST_CASE("carrier look: noise has no carrier, nor has silence, nor a few samples") {
    MadeBand band;
    band.samples.resize(1 << 17);
    CHECK_FALSE(look(band, {.sample_rate_hz = 4e6}, {.symbol_rate_hz = 1e6}).has_value());
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        dsp::add_gaussian_noise(seed, 0, 1, band.samples);
        CHECK_FALSE(look(band, {.sample_rate_hz = 4e6}, {.symbol_rate_hz = 1e6}).has_value());
    }
    band.samples.resize(100);
    CHECK_FALSE(look(band, {.sample_rate_hz = 4e6}, {.symbol_rate_hz = 1e6}).has_value());
}

}  // namespace tidemill::dvbs2
