#include <cmath>
#include <complex>
#include <numbers>
#include <set>
#include <span>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include "tidemill/dvbs2/receiver/testing/made_signal.hpp"

namespace tidemill::dvbs2 {
namespace {

using namespace internal;

constexpr std::size_t kFrames = 24;

/// Change where one transmission ends and the next begins.
struct Change {
    double jump = 0;  // cycles per symbol
    std::uint64_t gap_symbols = 0;
    bool inverted = false;
    Pls pls = kQpsk89;
};

MadeReception second_of(const Change& change) {
    // An inverted spectrum also turns the frequency round.
    const double frequency = (change.inverted ? -1 : 1) * (change.jump - 0.04);
    return make_reception(change.pls, kFrames,
                          {.esn0_db = 10,
                           .frequency_cycles_per_symbol = frequency,
                           .clock_offset_ppm = 20,
                           .inverted_spectrum = change.inverted,
                           .lead_samples = 2 * change.gap_symbols,
                           .seed = 4});
}

// How many frames' packets of what was sent do not come out.
double frames_lost(const std::vector<std::uint8_t>& sent, std::size_t frames,
                   const std::vector<std::uint8_t>& received) {
    std::set<std::string_view> heard;
    const auto packet = [](std::span<const std::uint8_t> of, std::size_t at) {
        return std::string_view(reinterpret_cast<const char*>(of.data() + at), io::kTsPacketBytes);
    };
    for (std::size_t at = 0; at < received.size(); at += io::kTsPacketBytes) {
        heard.insert(packet(received, at));
    }
    double lost = 0;
    for (std::size_t at = 0; at < sent.size(); at += io::kTsPacketBytes) {
        lost += heard.contains(packet(sent, at)) ? 0 : io::kTsPacketBytes;
    }
    return lost * static_cast<double>(frames) / static_cast<double>(sent.size());
}

// Lost frames of the second transmission.
double frames_lost(const Change& change) {
    const MadeReception first = make_reception(
        kQpsk89, kFrames,
        {.esn0_db = 10, .frequency_cycles_per_symbol = -0.04, .clock_offset_ppm = 20, .seed = 3});
    const MadeReception second = second_of(change);
    std::vector<dsp::Iq> samples = first.samples;
    samples.insert(samples.end(), second.samples.begin(), second.samples.end());
    return frames_lost(second.packets, kFrames, receive(samples).packets);
}

// Lost frames of one transmission whose carrier steps by so many cycles per symbol while its frames run on.
double frames_lost_to_step(const Pls& pls, double esn0_db, double step) {
    constexpr double kTurn = 2 * std::numbers::pi;
    const std::size_t frames = pls.size == FrameSize::normal ? 16 : 2 * kFrames;
    MadeReception made = make_reception(pls, frames, {.esn0_db = esn0_db, .clock_offset_ppm = 20, .seed = 5});
    const auto after = std::span(made.samples).subspan(made.samples.size() * 2 / 5);
    for (std::size_t i = 0; i < after.size(); ++i) {
        const double cycles = step / 2 * static_cast<double>(i);
        after[i] *= dsp::Iq(std::polar(1.0, kTurn * (cycles - std::floor(cycles))));
    }
    return frames_lost(made.packets, frames, receive(made.samples).packets);
}

}  // namespace

TEST_CASE("relock: another MODCOD, frame size, phase or spectrum costs no frame") {
    CHECK(frames_lost({.pls = {13, FrameSize::short_, false}}) == 0);
    CHECK(frames_lost({.pls = {4, FrameSize::normal, true}}) == 0);
    CHECK(frames_lost({.jump = 0.002}) == 0);
    CHECK(frames_lost({.inverted = true}) == 0);
}

TEST_CASE("relock: a jump of the carrier costs at most four short frames, a gap in which it is missed two") {
    for (const double jump : {0.02, 0.05, 0.1}) {
        for (const std::uint64_t gap_symbols : {0U, 1000U, 5000U, 10000U}) {
            CAPTURE(jump);
            CAPTURE(gap_symbols);
            CHECK(frames_lost({.jump = jump, .gap_symbols = gap_symbols}) <= 4);
        }
    }
    for (const std::uint64_t gap_symbols : {1000U, 5000U, 10000U}) {
        CAPTURE(gap_symbols);
        CHECK(frames_lost({.gap_symbols = gap_symbols}) <= 2);
    }
}

TEST_CASE("relock: a carrier that steps, far or not, while the frames run on costs at most four of them") {
    for (const double step : {0.0005, 0.001, 0.002, 0.003, 0.004, 0.005, 0.01}) {
        CAPTURE(step);
        CHECK(frames_lost_to_step(kQpsk89, 10, step) <= 4);
        CHECK(frames_lost_to_step({10, FrameSize::short_, false}, 12, step) <= 4);
    }
}

TEST_CASE(
    "relock: headers that a step of the carrier makes look like those of another code are seen through") {
    for (const double step : {0.006, 0.008, 0.01}) {
        CAPTURE(step);
        CHECK(frames_lost_to_step({13, FrameSize::normal, false}, 12, step) <= 2);
        CHECK(frames_lost_to_step({24, FrameSize::short_, true}, 16, step) <= 2);
    }
}

TEST_CASE("relock: after a long gap every frame is heard, wherever the carrier is then") {
    CHECK(frames_lost({.jump = 0.1, .gap_symbols = 25000}) == 0);
    CHECK(frames_lost({.jump = 0.05, .gap_symbols = 60000, .inverted = true}) == 0);
}

TEST_CASE("relock: a stream that ends within a signal has not lost its lock") {
    const MadeReception made = make_reception({4, FrameSize::short_, true}, 8, {.esn0_db = 10});
    MemorySource source(made.samples);
    Receiver receiver(source, {}, [](auto) {});
    Sequence(receiver.graph()).run();
    CHECK(receiver.now().locked);
}

TEST_CASE("relock: a lock is told only while a signal is there, though frames are still expected") {
    constexpr std::size_t kLongFrames = 4, kQuiet = 200'000;
    const MadeReception made =
        make_reception({4, FrameSize::normal, true}, kLongFrames, {.esn0_db = 10, .tail_samples = kQuiet});
    MemorySource source(made.samples);
    Receiver receiver(source, {}, [](auto) {});
    bool was_locked = false;
    const auto has_fallen_silent = [&] {
        was_locked |= receiver.now().locked;
        return source.given() + kQuiet / 4 > made.samples.size();
    };
    Sequence(receiver.graph()).run({.stop_when = has_fallen_silent});
    CHECK(was_locked);
    CHECK_FALSE(receiver.now().found);
    CHECK_FALSE(receiver.now().locked);
}

TEST_CASE("relock: a carrier that is found a little beside behind a hole has not drifted") {
    for (const double begin : {300e3, 412345.0, 500e3, 550e3}) {
        for (const double symbols : {20e3, 45e3}) {
            CAPTURE(begin);
            CAPTURE(symbols);
            const MadeReception made = make_reception(
                {7, FrameSize::normal, false}, 30,
                {.esn0_db = 8, .frequency_cycles_per_symbol = 0.003, .dropouts = {{begin, symbols}}});
            const ReceptionReport report = receive(made.samples).report;
            CHECK(report.totals.largest_drift == 0);
            CHECK(report.totals.frames_bad <= 3);
        }
    }
}

}  // namespace tidemill::dvbs2
