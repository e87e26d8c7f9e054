#include "tidemill/dvbs2/receiver/missing_samples.hpp"

#include <array>

#include <doctest/doctest.h>

#include "tidemill/io/transport/ts_packet.hpp"

namespace tidemill::dvbs2 {
namespace {

constexpr double kSymbolRateHz = 1e6;
constexpr double kFrame = 8370;

std::array<std::uint8_t, io::kTsPacketBytes> packet_with_pcr(std::uint16_t pid, double seconds) {
    const auto base = static_cast<std::uint64_t>(seconds * 90e3) & 0x1'ffff'ffffU;
    std::array<std::uint8_t, io::kTsPacketBytes> packet{io::kTsSyncByte,
                                                        static_cast<std::uint8_t>(pid >> 8),
                                                        static_cast<std::uint8_t>(pid),
                                                        0x20,
                                                        183,
                                                        0x10};
    for (std::size_t i = 0; i < 4; ++i) packet[6 + i] = static_cast<std::uint8_t>(base >> (25 - 8 * i));
    packet[10] = static_cast<std::uint8_t>((base & 1) << 7 | 0x7e);
    return packet;
}

/// Frames of a stream whose clock runs on at the sender's, whatever is missing.
struct Stream {
    MissingAccount account{{kSymbolRateHz, 2}};
    double received = 0;  // symbols
    double sent = 0;
    double clock_s = 95440;  // near its turn

    void frames(int count, MissingSymbols found = {}) {
        for (int i = 0; i < count; ++i) {
            FrameInfo info;
            info.place = received;
            info.symbols = static_cast<int>(kFrame);
            info.missing = i == 0 ? found : MissingSymbols{};
            account.begin_frame(info);
            const auto packet = packet_with_pcr(0x100, clock_s + (sent + kFrame / 4) / kSymbolRateHz);
            account.read_clocks(packet, 0);
            received += kFrame;
            sent += kFrame;
        }
    }
};

}  // namespace

TEST_CASE("missing samples: whole frames are counted by the programme clock, and then nothing is left open") {
    for (const int frames : {0, 1, 7, 1000}) {
        CAPTURE(frames);
        Stream stream;
        stream.frames(10);
        stream.sent += 617 + frames * kFrame;
        const double place = stream.received - 1000;
        stream.frames(3);  // the clock rests, then it is reported
        stream.frames(1, {617, kFrame, place});
        const MissingSamples& tally = stream.account.tally();
        CHECK(tally.gaps == 1);
        CHECK(tally.gaps_at_least == 0);
        CHECK(tally.samples == 2 * static_cast<std::uint64_t>(617 + frames * kFrame));
        CHECK(tally.last_s == doctest::Approx(place / kSymbolRateHz));
    }
}

TEST_CASE("missing samples: whole frames are counted by the sender's symbol counter, across its turn") {
    MissingAccount account{{kSymbolRateHz, 2}};
    const auto frame = [&](double received, double sent, MissingSymbols found) {
        FrameInfo info;
        info.place = received;
        info.symbols = static_cast<int>(kFrame);
        info.missing = found;
        account.begin_frame(info);
        account.read_counter(static_cast<std::uint32_t>(4'190'000 + sent) & 0x3fffff, 0);
    };
    frame(0, 0, {});
    frame(kFrame, kFrame, {});
    frame(2 * kFrame, 2 * kFrame + 617 + 3 * kFrame, {617, kFrame, 2 * kFrame});
    CHECK(account.tally().gaps_at_least == 0);
    CHECK(account.tally().samples == static_cast<std::uint64_t>(2 * (617 + 3 * kFrame)));
}

TEST_CASE("missing samples: two places between two looks at the clock are settled together") {
    Stream stream;
    stream.frames(10);
    stream.sent += 617 + 2 * kFrame + 30;
    const double place = stream.received;
    FrameInfo first, second;
    first.missing = {617, kFrame, place - 5};
    second.missing = {30, kFrame, place - 2};
    stream.account.begin_frame(first);
    stream.account.begin_frame(second);
    CHECK(stream.account.tally().gaps_at_least == 2);
    stream.frames(2);
    CHECK(stream.account.tally().gaps_at_least == 0);
    CHECK(stream.account.tally().samples == static_cast<std::uint64_t>(2 * (647 + 2 * kFrame)));
}

TEST_CASE("missing samples: without a clock, and where it leaps, whole frames stay open") {
    MissingAccount silent{{kSymbolRateHz, 2}};
    FrameInfo info;
    info.missing = {617, kFrame, 5000};
    silent.begin_frame(info);
    CHECK(silent.tally().gaps_at_least == 1);
    CHECK(silent.tally().samples == 1234);

    Stream leaping;
    leaping.frames(10);
    leaping.clock_s += 375.5 * kFrame / kSymbolRateHz;
    leaping.sent += 617;
    leaping.frames(2, {617, kFrame, leaping.received - 1000});
    CHECK(leaping.account.tally().gaps_at_least == 1);
    CHECK(leaping.account.tally().samples == 1234);
}

TEST_CASE("missing samples: the latest places are told, with whole frames as far as a clock tells them") {
    Stream stream;
    stream.frames(10);
    const double before = stream.received - kFrame, behind = stream.received + 3 * kFrame;
    stream.sent += 617 - kFrame;  // more silence than was missing
    stream.frames(1, {617, kFrame, before + 100, before, behind});
    const auto& latest = stream.account.tally().latest;
    CHECK(latest[0].before_s == doctest::Approx(before / kSymbolRateHz));
    CHECK(latest[0].behind_s == doctest::Approx(behind / kSymbolRateHz));
    CHECK(latest[0].samples == doctest::Approx(2 * 617));
    CHECK(latest[0].frame_samples == doctest::Approx(2 * kFrame));
    CHECK(latest[0].frames_known == 1);
    CHECK(latest[0].frames == -1);
    CHECK(latest[1] == GapByFrames{});
    CHECK(stream.account.tally().gaps_at_least == 1);
}

TEST_CASE("missing samples: a doubtful place is told, and is not counted") {
    Stream stream;
    stream.frames(10);
    const double before = stream.received - kFrame;
    stream.sent += 617 + 5 * kFrame;
    stream.frames(3, {617, kFrame, before + 100, before, stream.received, 1});
    const MissingSamples& tally = stream.account.tally();
    CHECK(tally.gaps == 0);
    CHECK(tally.samples == 0);
    CHECK(tally.latest[0].samples == doctest::Approx(2 * 617));
    CHECK(tally.latest[0].frames == 5);
    CHECK(tally.latest_begin == 1);
}

TEST_CASE("missing samples: less than half a sample is none") {
    MissingAccount account{{kSymbolRateHz, 2}};
    FrameInfo info;
    info.missing = {0.2, kFrame, 5000};
    account.begin_frame(info);
    CHECK(account.tally() == MissingSamples{});
}

}  // namespace tidemill::dvbs2
