#include "tidemill/dvbs2/search/carrier_rates.hpp"

#include <cmath>
#include <vector>

#include <doctest/doctest.h>

#include "tidemill/dvbs2/receiver/testing/wide_band.hpp"
#include "tidemill/io/live/stream_reader.hpp"

namespace tidemill::dvbs2 {

TEST_CASE("carrier rates: a symbol rate is found where the carrier was seen 9 % too wide or 7 % too narrow") {
    const internal::MadeBand band =
        internal::make_band({.sample_rate_hz = 2e6, .seconds = 0.3, .esn0_db = 9},
                            std::vector{internal::BandCarrier{.symbol_rate_hz = 0.5e6, .offset_hz = 0.3e6}});
    const std::vector<FoundCarrier> seen{{.offset_hz = 0.3e6, .symbol_rate_hz = 1.09 * 0.5e6},
                                         {.offset_hz = 0.3e6, .symbol_rate_hz = 0.93 * 0.5e6}};
    io::MemoryReader source(std::as_bytes(std::span(band.samples)), dsp::SampleFormat::cf32, 2e6);
    for (const auto& rate_hz : measure_symbol_rates(source, seen)) {
        REQUIRE(rate_hz.has_value());
        CHECK(std::abs(*rate_hz / 0.5e6 - 1) < 20e-6);
    }
}

}  // namespace tidemill::dvbs2
