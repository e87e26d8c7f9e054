#include "tidemill/dvbs2/receiver/band_receiver.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <vector>

#include <doctest/doctest.h>

#include "tidemill/dvbs2/dvbs2_error.hpp"
#include "tidemill/dvbs2/receiver/testing/rx_schedules.hpp"
#include "tidemill/dvbs2/receiver/testing/wide_band.hpp"
#include "tidemill/dvbs2/tuner/tuned_source.hpp"
#include "tidemill/io/live/stream_reader.hpp"
#include "tidemill/runtime/dynamic/dynamic.hpp"

namespace tidemill::dvbs2 {
namespace {

using namespace internal;
using Packets = std::vector<std::uint8_t>;

constexpr double kBandRate = 4e6;

/// A band of three carriers of different rates, and how each is tuned to.
struct BandOfThree {
    std::vector<std::byte> bytes;
    std::vector<Tuning> tunings;
};

const BandOfThree& band_of_three() {
    static const BandOfThree made = [] {
        const std::vector<BandCarrier> carriers{{.symbol_rate_hz = 1e6, .offset_hz = -1.1e6},
                                                {.symbol_rate_hz = 333e3, .offset_hz = 0.2e6},
                                                {.symbol_rate_hz = 500e3, .offset_hz = 1.3e6, .level_db = 6}};
        BandOfThree band{
            as_ci16(make_band({.sample_rate_hz = kBandRate, .seconds = 0.2, .dc = {1, 0}}, carriers).samples),
            {}};
        for (const BandCarrier& c : carriers)
            band.tunings.push_back({.symbol_rate_hz = c.symbol_rate_hz, .offset_hz = c.offset_hz});
        return band;
    }();
    return made;
}

io::MemoryReader reader_of(const BandOfThree& band) {
    return {band.bytes, dsp::SampleFormat::ci16, kBandRate};
}

Received alone(const BandOfThree& band, const Tuning& tuning) {
    TunedSource source(std::make_unique<io::MemoryReader>(reader_of(band)), tuning);
    Received received;
    Receiver receiver(source, {.symbol_rate_hz = tuning.symbol_rate_hz, .tuned_hz = tuning.offset_hz},
                      [&](std::span<const std::uint8_t> packets) {
                          received.packets.insert(received.packets.end(), packets.begin(), packets.end());
                      });
    Sequence(receiver.graph()).run();
    received.report = receiver.report();
    return received;
}

/// All carriers of the band, received together.
template <class Run>
std::vector<Received> together(const BandOfThree& band, const Run& run) {
    io::MemoryReader source = reader_of(band);
    std::vector<Received> all(band.tunings.size());
    std::vector<CarrierOfBand> carriers;
    for (std::size_t k = 0; k < all.size(); ++k) {
        carriers.push_back({.name = "c" + std::to_string(k + 1), .tuning = band.tunings[k]});
        carriers.back().outputs.streams.packets = [&packets = all[k].packets](auto more, auto) {
            packets.insert(packets.end(), more.begin(), more.end());
        };
    }
    BandReceiver receiver(source, std::move(carriers));
    run(receiver.graph());
    for (std::size_t k = 0; k < all.size(); ++k) all[k].report = receiver.report(k);
    return all;
}

}  // namespace

TEST_CASE("band receiver: each carrier's packets and account are those of a receiver of its own") {
    const BandOfThree& band = band_of_three();
    const auto all = together(band, [](Graph& graph) { Sequence(graph).run(); });
    for (std::size_t k = 0; k < all.size(); ++k) {
        CAPTURE(k);
        const Received own = alone(band, band.tunings[k]);
        CHECK(own.packets.size() > 1000);
        CHECK(all[k].packets == own.packets);
        CHECK(all[k].report.totals.frames == own.report.totals.frames);
        CHECK(std::abs(all[k].report.frequency_hz - own.report.frequency_hz) < 10);
        CHECK(all[k].report.samples == band.bytes.size() / 4);
    }
}

TEST_CASE("band receiver: packets are the same under every executor and cut") {
    const BandOfThree& band = band_of_three();
    std::vector<ScheduledUnit> units;
    const auto want = together(band, [&](Graph& graph) {
        units = structure_of(graph).units;
        Sequence(graph).run();
    });
    const auto check = [&](const auto& run) {
        const auto got = together(band, run);
        for (std::size_t k = 0; k < got.size(); ++k) {
            CAPTURE(k);
            CHECK(got[k].packets == want[k].packets);
        }
    };
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
        CAPTURE(seed);
        check([&](Graph& graph) { Pipeline(graph, random_schedule(units, seed)).run(); });
    }
    check([](Graph& graph) { Dynamic(graph, {.workers = 3}).run(); });
    check([](Graph& graph) {
        Sequence(graph).run({.frames = 7});
        Dynamic(graph).resume();
    });
}

TEST_CASE("band receiver: a band that ends with a block, and one without samples, end") {
    BandOfThree band = band_of_three();
    band.bytes.resize(dsp::BandSpectra::fresh(kBandRate) * 4 * 8);
    const auto whole = together(band, [](Graph& graph) { Sequence(graph).run(); });
    const Received own = alone(band, band.tunings[0]);
    // A tuner of its own gives out its filter's tail, with which the frame that is cut off may still be
    // decoded.
    REQUIRE(whole[0].packets.size() <= own.packets.size());
    CHECK(whole[0].packets.size() > 3000);
    CHECK(std::equal(whole[0].packets.begin(), whole[0].packets.end(), own.packets.begin()));
    band.bytes.clear();
    const auto none = together(band, [](Graph& graph) { Sequence(graph).run(); });
    CHECK(none[0].packets.empty());
    CHECK(none[0].report.samples == 0);
}

TEST_CASE("band receiver: none, too many, and one beyond the band are refused") {
    io::MemoryReader source = reader_of(band_of_three());
    const CarrierOfBand one{.name = "c1", .tuning = {.symbol_rate_hz = 1e5}};
    CHECK_THROWS_AS(BandReceiver(source, {}), Dvbs2Error);
    CHECK_THROWS_WITH(BandReceiver(source, std::vector(16, one)),
                      "16 carriers cannot be received together: 1 to 15 can");
    BandReceiver most(source, std::vector(15, one));
    CHECK(structure_of(most.graph()).units.size() == 1 + 15 * 13);
    CarrierOfBand beyond = one;
    beyond.tuning.offset_hz = 3e6;
    CHECK_THROWS_AS(BandReceiver(source, {beyond}), Dvbs2Error);
}

}  // namespace tidemill::dvbs2
