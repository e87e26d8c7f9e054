#include "tidemill/dvbs2/receiver/retuned_source.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "tidemill/dvbs2/receiver/testing/rx_schedules.hpp"
#include "tidemill/dvbs2/receiver/testing/wide_band.hpp"
#include "tidemill/io/live/stream_reader.hpp"

namespace tidemill::dvbs2 {
namespace {

using namespace internal;

constexpr double kSampleRate_hz = 2e6;

/// Transmissions one after the other, with noise before each.
struct Transmissions {
    std::vector<std::byte> bytes{};
    std::vector<std::uint8_t> packets{};
};

Transmissions make_transmissions(const std::vector<std::vector<BandCarrier>>& all, double pause_s,
                                 double seconds = 0.8, std::uint64_t seed = 1) {
    Transmissions made;
    std::vector<dsp::Iq> samples;
    for (const std::vector<BandCarrier>& carriers : all) {
        const BandConfig config{
            .sample_rate_hz = kSampleRate_hz, .seconds = seconds, .esn0_db = 10, .seed = seed += 10};
        const MadeBand band = make_band(config, carriers);
        std::vector<dsp::Iq> pause(static_cast<std::size_t>(pause_s * kSampleRate_hz));
        const double noise = kSampleRate_hz / carriers.front().symbol_rate_hz / 10;
        dsp::add_gaussian_noise(seed, 1 << 28, static_cast<float>(std::sqrt(noise)), pause);
        samples.insert(samples.end(), pause.begin(), pause.end());
        samples.insert(samples.end(), band.samples.begin(), band.samples.end());
        made.packets.insert(made.packets.end(), band.packets.begin(), band.packets.end());
    }
    made.bytes = as_ci16(samples);
    return made;
}

struct Retuned {
    std::vector<std::uint8_t> packets{};
    std::vector<RetunedSource::Move> moves{};
    ReceptionReport report{};
};

/// `again`: the samples can be read a second time.
Retuned receive_retuned(std::span<const std::byte> bytes, const std::optional<Tuning>& tuning, bool again,
                        const Schedule* schedule = nullptr, double symbol_rate_hz = 500e3) {
    const auto open = [bytes](std::uint64_t first) {
        return std::make_unique<io::MemoryReader>(bytes.subspan(4 * first), dsp::SampleFormat::ci16,
                                                  kSampleRate_hz);
    };
    ReceiverConfig config{.symbol_rate_hz = symbol_rate_hz, .tuned_hz = tuning ? tuning->offset_hz : 0};
    RetunedSource source(open(0), tuning, config,
                         again ? RetunedSource::OpenAt(open) : RetunedSource::OpenAt());
    Retuned retuned;
    Receiver receiver(source, config, [&](std::span<const std::uint8_t> packets) {
        retuned.packets.insert(retuned.packets.end(), packets.begin(), packets.end());
    });
    if (schedule)
        Pipeline(receiver.graph(), *schedule, {}).run();
    else
        Sequence(receiver.graph()).run();
    retuned.moves.assign(source.moves().begin(), source.moves().end());
    retuned.report = receiver.report();
    return retuned;
}

// Packets that came out, each once, in the order in which they were sent.
std::size_t in_order(const std::vector<std::uint8_t>& received, const std::vector<std::uint8_t>& sent) {
    const std::vector<std::size_t> places = places_of(received, sent);
    CHECK(std::ranges::is_sorted(places));
    CHECK(std::ranges::adjacent_find(places) == places.end());
    return places.size();
}

const BandCarrier kLow{.symbol_rate_hz = 500e3, .offset_hz = -150e3};
const BandCarrier kHigh{.symbol_rate_hz = 500e3, .offset_hz = 150e3};
const BandCarrier kFar{.symbol_rate_hz = 250e3, .offset_hz = -600e3, .pls = {13, FrameSize::short_, true}};
const BandCarrier kSlow{.symbol_rate_hz = 200e3, .offset_hz = 10e3, .pls = {7, FrameSize::short_, false}};
const Tuning kAtLow{.symbol_rate_hz = 500e3, .offset_hz = -150e3};

}  // namespace

TEST_CASE(
    "retuned source: a carrier that goes elsewhere, or comes back with another symbol rate, is received") {
    const Transmissions sent = make_transmissions({{kLow}, {kHigh}, {kSlow}, {kFar}, {kLow}}, 0.7);
    const std::size_t all = sent.packets.size() / io::kTsPacketBytes;
    const Retuned recorded = receive_retuned(sent.bytes, kAtLow, true);
    CHECK(recorded.moves.size() == 4);
    CHECK(in_order(recorded.packets, sent.packets) + all / 25 > all);
    const Retuned live = receive_retuned(sent.bytes, kAtLow, false);
    CHECK(live.moves.size() == 4);
    CHECK(in_order(live.packets, sent.packets) > all / 2);
    // Samples that were given as they are, too.
    const Retuned as_they_are = receive_retuned(make_transmissions({{kSlow}, {kFar}}, 0.7).bytes, {}, true);
    CHECK(as_they_are.moves.size() == 2);
}

TEST_CASE("retuned source: of a jump without a pause, by part of the band, nothing is received twice") {
    for (const double seconds : {0.5, 0.53, 0.56, 0.6, 0.65, 0.7}) {
        CAPTURE(seconds);
        const Transmissions sent = make_transmissions({{kLow}, {kHigh}, {kLow}}, 0, seconds);
        const std::size_t all = sent.packets.size() / io::kTsPacketBytes;
        const Retuned received = receive_retuned(sent.bytes, kAtLow, true);
        CHECK_FALSE(received.moves.empty());
        CHECK(in_order(received.packets, sent.packets) + all / 10 > all);
    }
}

TEST_CASE("retuned source: a carrier that begins and jumps within one window is followed") {
    for (const double seconds : {0.3, 0.4, 0.6}) {
        CAPTURE(seconds);
        const Transmissions first = make_transmissions({{kLow}}, 0.35, seconds);
        const Transmissions second = make_transmissions({{kSlow}}, 0, 4, 100);
        std::vector<std::byte> bytes = first.bytes;
        bytes.insert(bytes.end(), second.bytes.begin(), second.bytes.end());
        std::vector<std::uint8_t> packets = first.packets;
        packets.insert(packets.end(), second.packets.begin(), second.packets.end());
        const Retuned received = receive_retuned(bytes, kAtLow, true);
        CHECK_FALSE(received.moves.empty());
        CHECK(in_order(received.packets, packets) + packets.size() / io::kTsPacketBytes / 5 >
              packets.size() / io::kTsPacketBytes);
    }
}

TEST_CASE("retuned source: carriers one behind the other are followed, whatever came before") {
    struct Part {
        double pause_s;
        BandCarrier carrier;
        double seconds = 0.8;
    };
    const auto at = [](double offset_hz, double symbol_rate_hz, double level_db = 0) {
        return BandCarrier{.symbol_rate_hz = symbol_rate_hz, .offset_hz = offset_hz, .level_db = level_db};
    };
    const std::vector<std::vector<Part>> all{
        // A change that was none for the receiver comes first.
        {{0.5, kLow, 1.0}, {0, kFar, 1.6}},
        // Most of the band was another's before.
        {{0, at(229e3, 250e3), 2}, {0, at(79e3, 500e3, -3), 2}},
        // At 10 samples a symbol.
        {{0, at(0, 200e3), 1.5}, {0, at(180e3, 200e3), 2}},
    };
    for (const std::vector<Part>& parts : all) {
        CAPTURE(&parts - all.data());
        Transmissions sent;
        for (const Part& part : parts) {
            const Transmissions one = make_transmissions({{part.carrier}}, part.pause_s, part.seconds,
                                                         static_cast<std::uint64_t>(&part - parts.data()));
            sent.bytes.insert(sent.bytes.end(), one.bytes.begin(), one.bytes.end());
            sent.packets.insert(sent.packets.end(), one.packets.begin(), one.packets.end());
        }
        const BandCarrier& first = parts.front().carrier;
        const bool is_tuned = first.offset_hz != 0;
        const Tuning tuning{.symbol_rate_hz = first.symbol_rate_hz, .offset_hz = first.offset_hz};
        const Retuned received = receive_retuned(sent.bytes, is_tuned ? std::optional(tuning) : std::nullopt,
                                                 true, nullptr, first.symbol_rate_hz);
        const std::size_t count = sent.packets.size() / io::kTsPacketBytes;
        CHECK(in_order(received.packets, sent.packets) + count / 20 > count);
        const BandCarrier& last = parts.back().carrier;
        CHECK(std::abs(received.report.symbol_rate_hz - last.symbol_rate_hz) < 10);
        CHECK(std::abs(received.report.frequency_hz - last.offset_hz) < 100);
        const double signal_s = static_cast<double>(sent.bytes.size()) / 4 / kSampleRate_hz;
        CHECK(std::abs(received.report.totals.end_s - signal_s) < 0.1);
        CHECK(received.report.tones_hz.empty());
    }
}

TEST_CASE("retuned source: bursts of a carrier that stays come out once") {
    const BandCarrier beside{.symbol_rate_hz = 500e3, .offset_hz = 40e3};
    const std::vector<std::vector<BandCarrier>> bursts(8, {beside});
    const Transmissions sent = make_transmissions(bursts, 0.3, 0.05);
    const Retuned received = receive_retuned(sent.bytes, {}, true);
    CHECK(received.moves.empty());
    CHECK(in_order(received.packets, sent.packets) > 0.7 * sent.packets.size() / io::kTsPacketBytes);
}

TEST_CASE("retuned source: it moves at the same sample under every executor") {
    const Transmissions sent = make_transmissions({{kLow}, {kFar}, {kHigh}}, 0.5);
    const Retuned expected = receive_retuned(sent.bytes, kAtLow, true);
    CHECK(expected.moves.size() == 2);
    const auto units = receiver_units();
    for (const std::uint64_t seed : {1U, 2U, 3U}) {
        const Schedule schedule = random_schedule(units, seed);
        CHECK(receive_retuned(sent.bytes, kAtLow, true, &schedule).packets == expected.packets);
    }
}

TEST_CASE("retuned source: what has always been beside a carrier does not take its place") {
    const BandCarrier beside{.symbol_rate_hz = 400e3, .offset_hz = 600e3, .level_db = 6};
    const Transmissions sent = make_transmissions({{kLow, beside}}, 0);
    std::vector<std::byte> bytes = sent.bytes;
    // The carrier falls silent: what its neighbour sends goes on.
    const MadeBand alone = make_band({.sample_rate_hz = kSampleRate_hz, .seconds = 2},
                                     std::vector{BandCarrier{.symbol_rate_hz = 400e3, .offset_hz = 600e3}});
    const auto more = as_ci16(alone.samples);
    bytes.insert(bytes.end(), more.begin(), more.end());
    CHECK(receive_retuned(bytes, kAtLow, true).moves.empty());
}

}  // namespace tidemill::dvbs2
