#include "tidemill/dvbs2/carrier/carrier.hpp"

#include <cmath>
#include <numbers>

#include <doctest/doctest.h>
#include <fmt/core.h>

#include "tidemill/dvbs2/standard/testing/test_frames.hpp"

namespace tidemill::dvbs2 {
namespace {

using namespace internal;

constexpr double kDegrees = 180 / std::numbers::pi;

struct Residual {
    double rms_deg = 0;    // over all data symbols
    double worst_deg = 0;  // a slip would be at least 45
};

// Phase left on noiseless copies of the data symbols, through frame_sync and carrier, over some frames.
Residual residual_phase(const Pls& pls, const TestChannel& channel, std::size_t frames, unsigned seed) {
    std::mt19937 random(seed);
    const PlScrambler scrambler(3333);
    std::vector<TestFrame> sent;
    for (std::size_t i = 0; i < frames; ++i) {
        sent.push_back(make_frame(pls, scrambler, random));
    }
    std::vector<double> phases;
    const auto stream = transmit(join(sent), channel, random, &phases);
    FrameSync sync(scrambler);
    sync.push(stream);
    sync.flush();
    Carrier carrier(scrambler);
    CarrierTrack track;
    std::vector<Iq> frame(kFrameBufferSymbols), data(kMaxDataSymbols), known(kMaxKnownSymbols);
    Residual residual;
    double sum = 0;
    std::size_t count = 0;
    std::size_t popped = 0;
    while (const auto info = sync.pop(frame)) {
        carrier.estimate(frame, *info, track);
        for (std::size_t i = 0; i < static_cast<std::size_t>(info->symbols); ++i) {
            // As frame_sync has turned it: what drifts is made straight.
            const Iq turn = frame[i] * std::conj(stream[info->start + i]);
            frame[i] = sent[popped].symbols[i] * Iq(std::polar(1.0, phases[info->start + i])) * turn /
                       std::abs(turn);
        }
        const auto counts = carrier.remove(frame, *info, track, data, known);
        std::vector<Iq> mapped = map_bits(*find_modcod(pls.modcod), sent[popped].bits);
        REQUIRE(counts.data == mapped.size());
        for (std::size_t i = 0; i < counts.data; ++i) {
            const double error = std::arg(data[i] * std::conj(mapped[i])) * kDegrees;
            residual.worst_deg = std::max(residual.worst_deg, std::abs(error));
            sum += error * error;
        }
        count += counts.data;
        ++popped;
    }
    REQUIRE(popped == frames);
    residual.rms_deg = std::sqrt(sum / static_cast<double>(count));
    return residual;
}

TEST_CASE(
    "carrier: with pilots, the phase is right within 5.5 degrees rms half a dB over every MODCOD's "
    "threshold") {
    for (const Modcod& modcod : all_modcods()) {
        for (const FrameSize size : {FrameSize::normal, FrameSize::short_}) {
            if (size == FrameSize::short_ && !modcod.has_short) {
                continue;
            }
            const auto residual =
                residual_phase({modcod.number, size, true},
                               {.esn0_db = modcod.esn0_threshold_db + 0.5, .frequency = 0.0312345}, 6, 11);
            CAPTURE(modcod.number);
            CAPTURE(size == FrameSize::normal);
            CHECK(residual.rms_deg < 5.5);
            CHECK(residual.worst_deg < 30);
        }
    }
}

TEST_CASE("carrier: without pilots, everything from rate 3/5 up stays without slips 1 dB over threshold") {
    for (const int number : {5, 6, 7, 9, 11, 12, 13, 14, 16, 18, 20, 23, 24, 26, 28}) {
        const Modcod& modcod = *find_modcod(number);
        for (const FrameSize size : {FrameSize::normal, FrameSize::short_}) {
            if (size == FrameSize::short_ && !modcod.has_short) {
                continue;
            }
            const auto residual =
                residual_phase({number, size, false},
                               {.esn0_db = modcod.esn0_threshold_db + 1, .frequency = -0.0512345}, 8, 12);
            CAPTURE(number);
            CAPTURE(size == FrameSize::normal);
            CHECK(residual.rms_deg < 4);
            CHECK(residual.worst_deg < 20);
        }
    }
}

TEST_CASE("carrier: phase noise of 20 degrees in 1000 symbols is followed through QPSK by its data") {
    for (const bool pilots : {true, false}) {
        for (const FrameSize size : {FrameSize::normal, FrameSize::short_}) {
            CAPTURE(pilots);
            CAPTURE(size == FrameSize::normal);
            const auto residual =
                residual_phase({7, size, pilots}, {.esn0_db = 6, .phase_walk_deg = 20}, 8, 14);
            CHECK(residual.rms_deg < 7);
            CHECK(residual.worst_deg < 40);
        }
    }
}

TEST_CASE("carrier: phase noise of 3 and 6 degrees in 1000 symbols is followed") {
    for (const int number : {1, 4, 13, 18, 24}) {
        for (const bool pilots : {true, false}) {
            if (!pilots && number != 13) {
                continue;
            }
            for (const double walk : {3.0, 6.0}) {
                const Modcod& modcod = *find_modcod(number);
                const auto residual = residual_phase(
                    {number, FrameSize::normal, pilots},
                    {.esn0_db = modcod.esn0_threshold_db + 1.5, .frequency = 0.01, .phase_walk_deg = walk}, 5,
                    13);
                CAPTURE(number);
                CHECK(residual.rms_deg < 3 + 0.5 * walk);
                CHECK(residual.worst_deg < 35);
            }
        }
    }
}

// From pilots to pilots alone it would be 3 degrees.
TEST_CASE("carrier: where points are dense, a phase that wanders far is followed between the pilots, too") {
    for (const int number : {23, 27, 28}) {
        const Modcod& modcod = *find_modcod(number);
        const auto residual = residual_phase(
            {number, FrameSize::normal, true},
            {.esn0_db = modcod.esn0_threshold_db + 1.5, .frequency = 0.01, .phase_walk_deg = 6}, 20, 15);
        CAPTURE(number);
        CHECK(residual.rms_deg < 1.8);
        CHECK(residual.worst_deg < 11.25);
    }
}

TEST_CASE("carrier: without pilots, dense constellations take no offset for another") {
    for (const int number : {20, 25}) {
        const Modcod& modcod = *find_modcod(number);
        for (unsigned seed = 1; seed <= 60; ++seed) {
            const auto residual =
                residual_phase({number, FrameSize::short_, false},
                               {.esn0_db = modcod.esn0_threshold_db + 8, .frequency = 0.03}, 2, seed);
            CAPTURE(number);
            CAPTURE(seed);
            CHECK(residual.worst_deg < 11.25);
        }
    }
}

TEST_CASE("carrier: without pilots, a drifting and noisy carrier is followed from header to header") {
    for (const int number : {5, 11, 12, 13, 17}) {
        const Modcod& modcod = *find_modcod(number);
        const auto residual = residual_phase(
            {number, FrameSize::normal, false},
            {.esn0_db = modcod.esn0_threshold_db + 1, .frequency = 0.01, .drift = 3e-9, .phase_walk_deg = 3},
            30, 14);
        CAPTURE(number);
        CHECK(residual.rms_deg < 4);
        CHECK(residual.worst_deg < 30);
    }
}

// Also before it is known: 3 dB over the lowest threshold headers show a drift of 1.3e-8 in seven frames.
TEST_CASE(
    "carrier: a drift that runs through a long frame of a low rate is followed, with pilots and without") {
    for (const bool pilots : {true, false}) {
        for (const double drift : {-1e-8, 1.3e-8, pilots ? 4.8e-8 : 6e-9}) {
            const auto residual =
                residual_phase({1, FrameSize::normal, pilots},
                               {.esn0_db = find_modcod(1)->esn0_threshold_db + 2.9, .drift = drift}, 10, 16);
            CAPTURE(pilots);
            CAPTURE(drift);
            CHECK(residual.rms_deg < 5.5);
            CHECK(residual.worst_deg < 30);
        }
    }
}

// One turn more or less from header to header is what neighbouring blocks alone took for the carrier here.
TEST_CASE("carrier: without pilots, a noisy short frame gains or loses no turn from header to header") {
    for (const unsigned seed : {10U, 22U, 24U, 30U, 52U}) {
        const auto residual = residual_phase({12, FrameSize::short_, false},
                                             {.esn0_db = find_modcod(12)->esn0_threshold_db + 1,
                                              .frequency = 0.01,
                                              .drift = 2e-9,
                                              .phase_walk_deg = 3},
                                             40, seed);
        CAPTURE(seed);
        CHECK(residual.rms_deg < 5);
    }
}

TEST_CASE(
    "carrier: of a lone PSK frame without pilots the phase is found though nothing was learned before") {
    for (const int number : {7, 14}) {
        const Modcod& modcod = *find_modcod(number);
        const auto residual = residual_phase(
            {number, FrameSize::short_, false},
            {.esn0_db = modcod.esn0_threshold_db + 6, .frequency = 0.01, .phase_walk_deg = 1}, 1, 15);
        CAPTURE(number);
        CHECK(residual.rms_deg < 4);
        CHECK(residual.worst_deg < 20);
    }
}

}  // namespace
}  // namespace tidemill::dvbs2
