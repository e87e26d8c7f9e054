#include "tidemill/dvbs2/carrier/level_path.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include <doctest/doctest.h>

#include "tidemill/dvbs2/carrier/noise.hpp"
#include "tidemill/dvbs2/standard/testing/test_frames.hpp"

namespace tidemill::dvbs2 {
namespace {

using namespace internal;

/// Data and known symbols of a frame as Carrier::remove() writes them.
struct LevelledFrame {
    Pls pls;
    std::vector<Iq> sent, data, known;

    LevelledFrame(const Pls& kind, double esn0_db, std::mt19937& random) : pls(kind) {
        sent = map_bits(*find_modcod(pls.modcod), make_frame(pls, PlScrambler(0), random).bits);
        data = transmit(sent, {.esn0_db = esn0_db, .phase = 0}, random);
        const auto blocks = static_cast<std::size_t>(layout_of(pls).pilot_blocks);
        const std::size_t count = kHeaderSymbols + blocks * kPilotBlockSymbols;
        known = transmit(std::vector<Iq>(count, {1, 0}), {.esn0_db = esn0_db, .phase = 0}, random);
    }

    /// `gain` of a place among the data symbols.
    template <class Gain>
    void scale_by(const Gain& gain) {
        for (std::size_t n = 0; n < data.size(); ++n) data[n] *= gain(static_cast<double>(n));
        for (std::size_t n = 0; n < known.size(); ++n)
            known[n] *= gain(
                n < kHeaderSymbols
                    ? 0
                    : kPilotSpacingSymbols *
                          (1 + std::floor((static_cast<double>(n) - kHeaderSymbols) / kPilotBlockSymbols)));
    }

    /// Noise and level errors of the data, in dB over the signal, once the level of all is taken off.
    double data_error_db() const {
        double cross = 0, power = 0, errors = 0;
        for (std::size_t n = 0; n < sent.size(); ++n) {
            cross += (data[n] * std::conj(sent[n])).real();
            power += std::norm(sent[n]);
        }
        const auto level = static_cast<float>(cross / power);
        for (std::size_t n = 0; n < sent.size(); ++n) errors += std::norm(data[n] / level - sent[n]);
        return 10 * std::log10(errors / power);
    }
};

float rippling_gain(double place) {
    return static_cast<float>(std::pow(10, 3.0 / 20 * std::sin(2 * std::numbers::pi * place / 5000)));
}

constexpr Pls kApsk16{18, FrameSize::normal, true}, kApsk16Short{18, FrameSize::short_, false},
    kApsk32{24, FrameSize::normal, false}, kApsk32Short{24, FrameSize::short_, true};

}  // namespace

TEST_CASE("level path: a gain that moves by 3 dB within a frame costs 16APSK and 32APSK less than 0.25 dB") {
    std::mt19937 random(71);
    for (const Pls& pls : {kApsk16, kApsk16Short, kApsk32, kApsk32Short}) {
        CAPTURE(pls.code());
        const double esn0_db = find_modcod(pls.modcod)->esn0_threshold_db;
        LevelledFrame frame(pls, esn0_db, random);
        const double known_db = quality_of_known(frame.known).esn0_db();
        frame.scale_by(rippling_gain);
        const double rippled_db = frame.data_error_db();
        LevelPath().flatten(pls, frame.data, frame.known);
        CHECK(rippled_db > -esn0_db + 0.4);
        CHECK(frame.data_error_db() < -esn0_db + 0.25);
        CHECK(quality_of_known(frame.known).esn0_db() > known_db - 0.3);
    }
}

TEST_CASE("level path: a steady level, a lost stretch and a modulation of phases alone are left alone") {
    std::mt19937 random(72);
    const auto changes = [](LevelledFrame frame) {
        const auto data = frame.data;
        LevelPath().flatten(frame.pls, frame.data, frame.known);
        return frame.data != data;
    };
    for (const Pls& pls : {kApsk16, kApsk16Short, kApsk32, kApsk32Short}) {
        CAPTURE(pls.code());
        LevelledFrame frame(pls, 14, random);
        CHECK_FALSE(changes(frame));
        LevelledFrame lost = frame;
        lost.scale_by([](double place) { return place < 1500 ? 1.0F : 0.05F; });
        CHECK_FALSE(changes(lost));
        frame.scale_by(rippling_gain);
        CHECK(changes(frame));
    }
    LevelledFrame qpsk({7, FrameSize::normal, true}, 5, random);
    qpsk.scale_by(rippling_gain);
    CHECK_FALSE(changes(qpsk));
}

TEST_CASE("level path: a step too small for the front to find is not made worse") {
    std::mt19937 random(73);
    for (const float step : {1.1F, 1.2F, 0.8F}) {
        CAPTURE(step);
        LevelledFrame frame(kApsk16, 12, random);
        frame.scale_by([&](double place) { return place < 6000 ? 1.0F : step; });
        const double before_db = frame.data_error_db();
        LevelPath().flatten(frame.pls, frame.data, frame.known);
        CHECK(frame.data_error_db() <= before_db);
    }
}

}  // namespace tidemill::dvbs2
