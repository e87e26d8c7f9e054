#include "tidemill/dvbs2/sync/carrier_frequency_tracker.hpp"

#include <cmath>

#include <doctest/doctest.h>

#include "tidemill/dvbs2/standard/testing/test_frames.hpp"

namespace tidemill::dvbs2 {
namespace {

using namespace internal;

TEST_CASE("frequency_estimator: one header is as good as theory allows, within a quarter") {
    std::mt19937 random(51);
    const std::vector<Iq> header(header_symbols(9).begin(), header_symbols(9).end());
    double square = 0;
    double sigma = 0;
    constexpr int kTrials = 400;
    for (int trial = 0; trial < kTrials; ++trial) {
        FrequencyEstimator estimator(0.02);
        estimator.add(transmit(header, {.esn0_db = 4, .frequency = 0.0217}, random), header_references(9));
        square += std::pow(0.02 + estimator.offset() - 0.0217, 2);
        sigma = estimator.sigma(std::pow(10, 0.4));
    }
    CHECK(std::sqrt(square / kTrials) < 1.25 * sigma);
    CHECK(std::sqrt(square / kTrials) > 0.8 * sigma);
}

TEST_CASE("frequency_estimator: what was learned moves with the carrier or stays, as told") {
    const std::vector<Iq> header(header_symbols(9).begin(), header_symbols(9).end());
    std::mt19937 random(52);
    FrequencyEstimator estimator(0.01);
    estimator.add(transmit(header, {.frequency = 0.012}, random), header_references(9));
    CHECK(estimator.offset() == doctest::Approx(0.002).epsilon(1e-3));
    estimator.move(0.002);
    CHECK(std::abs(estimator.offset()) < 1e-6);
    estimator.follow(0.005);
    CHECK(std::abs(estimator.offset()) < 1e-6);
    CHECK(estimator.frequency() == doctest::Approx(0.017));
}

// Frames of one kind, each learned with the header behind it.
void learn_frames(CarrierFrequencyTracker& tracker, const Pls& pls, int frames, const TestChannel& channel,
                  std::mt19937& random) {
    const PlScrambler scrambler(0);
    std::vector<TestFrame> sent;
    for (int i = 0; i <= frames; ++i) {
        sent.push_back(make_frame(pls, scrambler, random));
    }
    const auto heard = transmit(join(sent), channel, random);
    const FrameLayout layout = layout_of(pls);
    std::vector<CarrierFrequencyTracker::Block> blocks{{0, header_references(pls.code())}};
    for (int k = 0; k < layout.pilot_blocks; ++k) {
        const int place = FrameLayout::pilot_start(k);
        blocks.push_back({place, scrambler.pilot_references().subspan(
                                     static_cast<std::size_t>(place - kHeaderSymbols), kPilotBlockSymbols)});
    }
    blocks.push_back({layout.symbols, header_references(pls.code())});
    const auto length = static_cast<std::size_t>(layout.symbols);
    for (std::size_t i = 0; i < static_cast<std::size_t>(frames); ++i) {
        tracker.learn(std::span(heard).subspan(i * length, length + kHeaderSymbols), blocks,
                      std::pow(10, channel.esn0_db / 10));
    }
}

struct Tracked {
    double error;
    bool settled;
};

// Error after some frames.
Tracked track(const Pls& pls, int frames, const TestChannel& channel, unsigned seed) {
    std::mt19937 random(seed);
    CarrierFrequencyTracker tracker(channel.frequency + 0.0007);
    learn_frames(tracker, pls, frames, channel, random);
    const double now = channel.frequency + channel.drift * (frames - 0.5) * layout_of(pls).symbols;
    return {tracker.frequency() - now, tracker.settled()};
}

TEST_CASE("frequency_tracker: settles within 1e-5 of the carrier, in few frames at each threshold") {
    for (const Pls& pls : {Pls{1, FrameSize::normal, true}, Pls{4, FrameSize::short_, true},
                           Pls{13, FrameSize::normal, true}, Pls{24, FrameSize::short_, true}}) {
        for (unsigned seed = 60; seed < 66; ++seed) {
            CAPTURE(pls.modcod);
            CAPTURE(seed);
            const double esn0_db = find_modcod(pls.modcod)->esn0_threshold_db + 1;
            const Tracked tracked = track(pls, 6, {.esn0_db = esn0_db, .frequency = -0.0431}, seed);
            CHECK(tracked.settled);
            CHECK(std::abs(tracked.error) < 1e-5);
        }
    }
}

TEST_CASE("frequency_tracker: follows a carrier that drifts by 2e-9 cycles per symbol squared") {
    const Tracked tracked =
        track({12, FrameSize::short_, true}, 60, {.esn0_db = 6.5, .frequency = 0.05, .drift = 2e-9}, 70);
    CHECK(std::abs(tracked.error) < 1.7e-4);
}

TEST_CASE("frequency_tracker: learns a carrier that has jumped as fast as one that is new") {
    const Pls pls{7, FrameSize::short_, true};
    for (const double jump : {-0.008, -0.002, 0.0011, 0.004}) {
        CAPTURE(jump);
        std::mt19937 random(71);
        CarrierFrequencyTracker tracker(0.02);
        learn_frames(tracker, pls, 20, {.esn0_db = 9, .frequency = 0.02}, random);
        learn_frames(tracker, pls, 2, {.esn0_db = 9, .frequency = 0.02 + jump}, random);
        CHECK(tracker.settled());
        CHECK(std::abs(tracker.frequency() - 0.02 - jump) < 2e-5);
    }
}

}  // namespace
}  // namespace tidemill::dvbs2
