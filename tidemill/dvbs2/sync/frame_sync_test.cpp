#include "tidemill/dvbs2/sync/frame_sync.hpp"

#include <algorithm>
#include <cmath>

#include <doctest/doctest.h>

#include "tidemill/dvbs2/standard/testing/test_frames.hpp"

namespace tidemill::dvbs2 {
namespace {

using namespace internal;

constexpr Pls kQpskShort{7, FrameSize::short_, true};

struct Popped {
    FrameInfo info;
    std::vector<Iq> symbols;
};

std::vector<Popped> receive(FrameSync& sync, const std::vector<Iq>& stream, std::size_t chunk = 3000) {
    std::vector<Popped> frames;
    std::vector<Iq> buffer(kFrameBufferSymbols);
    const auto drain = [&] {
        while (const auto info = sync.pop(buffer)) {
            frames.push_back({*info, {buffer.begin(), buffer.begin() + info->symbols}});
        }
    };
    for (std::size_t start = 0; start < stream.size(); start += chunk) {
        sync.push(std::span(stream).subspan(start, std::min(chunk, stream.size() - start)));
        drain();
    }
    sync.flush();
    drain();
    return frames;
}

std::vector<TestFrame> make_frames(std::size_t count, const Pls& pls, std::mt19937& random) {
    std::vector<TestFrame> frames;
    for (std::size_t i = 0; i < count; ++i) {
        frames.push_back(make_frame(pls, PlScrambler(0), random));
    }
    return frames;
}

void append(std::vector<Iq>& to, const std::vector<Iq>& more) {
    to.insert(to.end(), more.begin(), more.end());
}

// Frames must start where they were put, each once, in order.
void check_starts(const std::vector<Popped>& popped, std::size_t first, std::size_t length,
                  std::size_t count) {
    REQUIRE(popped.size() == count);
    for (std::size_t i = 0; i < count; ++i) {
        CHECK(popped[i].info.start == first + i * length);
    }
}

TEST_CASE("frame_sync: every frame of a stream between noise comes out, the first and the last included") {
    const PlScrambler scrambler(0);
    for (const double esn0_db : {-2.35, 1.0, 20.0}) {
        for (const double frequency : {-0.1, 0.0, 0.0371, 0.1}) {
            CAPTURE(esn0_db);
            CAPTURE(frequency);
            std::mt19937 random(1);
            const auto frames = make_frames(12, kQpskShort, random);
            auto stream = noise(5000, esn0_db, random);
            append(stream, transmit(join(frames), {.esn0_db = esn0_db, .frequency = frequency}, random));
            append(stream, noise(3000, esn0_db, random));
            FrameSync sync(scrambler);
            const auto popped = receive(sync, stream);
            check_starts(popped, 5000, 8370, 12);
            for (const Popped& frame : popped) {
                CHECK(frame.info.pls == kQpskShort);
                CHECK_FALSE(frame.info.inverted);
                CHECK(std::abs(frame.info.frequency - frequency) < 5 * frame.info.frequency_sigma);
            }
            CHECK(sync.counts().symbols_outside == 8000);
            CHECK(sync.counts().locks == 1);
        }
    }
}

TEST_CASE("frame_sync: symbols come out as they went in, however they are cut") {
    const PlScrambler scrambler(0);
    std::mt19937 random(2);
    const auto stream = join(make_frames(4, kQpskShort, random));
    for (const std::size_t chunk : {1U, 89U, 8370U, 100000U}) {
        CAPTURE(chunk);
        FrameSync sync(scrambler);
        const auto popped = receive(sync, stream, chunk);
        check_starts(popped, 0, 8370, 4);
        std::vector<Iq> joined;
        for (const Popped& frame : popped) {
            append(joined, frame.symbols);
        }
        CHECK(joined == stream);
    }
}

TEST_CASE("frame_sync: a conjugated spectrum is noticed and undone") {
    const PlScrambler scrambler(0);
    for (const double frequency : {-0.09, 0.0, 0.09}) {
        std::mt19937 random(3);
        const auto sent =
            transmit(join(make_frames(5, kQpskShort, random)), {.frequency = frequency}, random);
        auto stream = sent;
        std::ranges::transform(stream, stream.begin(), [](Iq s) { return std::conj(s); });
        FrameSync sync(scrambler);
        const auto popped = receive(sync, stream);
        check_starts(popped, 0, 8370, 5);
        CHECK(popped[0].info.inverted);
        CHECK(popped[0].info.frequency == doctest::Approx(frequency).epsilon(1e-4));
        CHECK(std::ranges::equal(popped[1].symbols, std::span(sent).subspan(8370, 8370)));
    }
}

TEST_CASE("frame_sync: frames of changing kinds follow one another, dummy frames among them") {
    const PlScrambler scrambler(12345);
    std::mt19937 random(4);
    std::vector<TestFrame> frames;
    for (const int modcod : {4, 0, 28, 13, 0, 0, 20, 11, 1}) {
        const bool is_long = modcod == 28 || modcod == 11;
        frames.push_back(make_frame(
            {modcod, is_long ? FrameSize::normal : FrameSize::short_, modcod % 2 == 0}, scrambler, random));
    }
    const auto stream = transmit(join(frames), {.esn0_db = 3, .frequency = 0.02}, random);
    FrameSync sync(scrambler);
    const auto popped = receive(sync, stream);
    REQUIRE(popped.size() == frames.size());
    for (std::size_t i = 0; i < frames.size(); ++i) {
        CHECK(popped[i].info.pls == frames[i].pls);
        CHECK(popped[i].symbols.size() == frames[i].symbols.size());
        CHECK(popped[i].info.next_code == (i + 1 < frames.size() ? frames[i + 1].pls.code() : -1));
    }
    CHECK(sync.counts().dummy_frames == 3);
    CHECK(sync.counts().symbols_outside == 0);
}

TEST_CASE("frame_sync: after a cut of odd length or a hole of noise all whole frames are found, none twice") {
    const PlScrambler scrambler(0);
    for (const std::size_t removed : {1U, 2U, 777U, 8369U, 8371U, 12345U}) {
        for (const std::size_t hole : {0U, 4001U, 60000U}) {
            CAPTURE(removed);
            CAPTURE(hole);
            std::mt19937 random(5);
            const auto sent = transmit(join(make_frames(14, kQpskShort, random)),
                                       {.esn0_db = 1, .frequency = -0.03}, random);
            const std::size_t cut = 5 * 8370 + 3000;
            std::vector<Iq> stream(sent.begin(), sent.begin() + cut);
            append(stream, noise(hole, 1, random));
            stream.insert(stream.end(), sent.begin() + static_cast<std::ptrdiff_t>(cut + removed),
                          sent.end());
            FrameSync sync(scrambler);
            const auto popped = receive(sync, stream);
            const std::size_t first_after = (cut + removed + 8369) / 8370;
            for (std::size_t i = 0; i < 14; ++i) {
                const std::size_t start = i <= 5 ? i * 8370 : i * 8370 + hole - removed;
                const auto at_start =
                    std::ranges::count(popped, start, [](const Popped& p) { return p.info.start; });
                CHECK(at_start == (i <= 5 || i >= first_after ? 1 : 0));
            }
            CHECK(popped.size() == 6 + 14 - first_after);
        }
    }
}

TEST_CASE("frame_sync: a header that stands by accident where one was expected hides no frame before it") {
    constexpr std::size_t kBefore = 4, kAfter = 8, kLength = 8370, kDummyLength = 3330;
    std::mt19937 random(11);
    auto stream = transmit(join(make_frames(kBefore, kQpskShort, random)), {.esn0_db = 12}, random);
    append(stream, noise(kLength - 2 * kDummyLength, 12, random));  // the third one where a frame would end
    append(stream, transmit(join(make_frames(kAfter, Pls{}, random)), {.esn0_db = 12}, random));
    const PlScrambler scrambler(0);
    FrameSync sync(scrambler);
    const auto popped = receive(sync, stream);
    std::vector<std::uint64_t> dummies;
    for (const Popped& frame : popped) {
        if (frame.info.pls.is_dummy()) dummies.push_back(frame.info.start);
    }
    REQUIRE(dummies.size() == kAfter);
    CHECK(dummies.front() == stream.size() - kAfter * kDummyLength);
    CHECK(dummies.back() == stream.size() - kDummyLength);
    CHECK(popped.size() == kBefore + kAfter);
}

TEST_CASE("frame_sync: what a pulse has left of a header is taken for no other one") {
    constexpr std::size_t kFrames = 111, kLength = 8370, kErased = 36;
    std::mt19937 random(12);
    auto stream = transmit(join(make_frames(kFrames, kQpskShort, random)), {.esn0_db = 8}, random);
    // From each place in every other header.
    for (std::size_t i = 0; i <= kHeaderSymbols - kErased; ++i)
        std::fill_n(stream.begin() + static_cast<std::ptrdiff_t>((2 * i + 1) * kLength + i), kErased, Iq{});
    const PlScrambler scrambler(0);
    FrameSync sync(scrambler);
    const auto popped = receive(sync, stream);
    check_starts(popped, 0, kLength, kFrames);
    for (const Popped& frame : popped) {
        CHECK(frame.info.pls == kQpskShort);
        CHECK(frame.info.missing == MissingSymbols{});
    }
    CHECK(sync.counts().locks == 1);
}

TEST_CASE(
    "frame_sync: of several kinds in turn, frames whose headers pulses have hit come out as what they are") {
    const PlScrambler scrambler(0);
    const Pls plan[]{kQpskShort, {13, FrameSize::short_, false}, {}, {4, FrameSize::short_, true}, {}};
    constexpr std::size_t kFrames = 65;
    for (const std::size_t erased : {26U, 36U, 54U, 74U, 90U}) {
        CAPTURE(erased);
        std::mt19937 random(14);
        std::vector<TestFrame> frames;
        for (std::size_t i = 0; i < kFrames; ++i)
            frames.push_back(make_frame(plan[i % std::size(plan)], scrambler, random));
        auto stream = transmit(join(frames), {.esn0_db = 8, .frequency = 0.01}, random);
        std::vector<std::size_t> starts;
        for (std::size_t i = 0, start = 0; i < kFrames; start += frames[i++].symbols.size()) {
            starts.push_back(start);
            // The first ten show which kinds there are.
            if (i < 10 || i % 3 != 0) continue;
            const std::size_t from = 5 * i % (kHeaderSymbols - erased + 1);
            std::fill_n(stream.begin() + static_cast<std::ptrdiff_t>(start + from), erased, Iq{});
        }
        FrameSync sync(scrambler);
        const auto popped = receive(sync, stream);
        REQUIRE(popped.size() == kFrames);
        for (std::size_t i = 0; i < kFrames; ++i) {
            CAPTURE(i);
            CHECK(popped[i].info.start == starts[i]);
            CHECK(popped[i].info.pls == frames[i].pls);
            CHECK(popped[i].info.missing == MissingSymbols{});
        }
        CHECK(sync.counts().locks == 1);
    }
}

TEST_CASE("frame_sync: without pilots, the drift of long frames is told as it is, or not at all") {
    const PlScrambler scrambler(0);
    constexpr Pls kLong{7, FrameSize::normal, false};
    for (const double drift : {0.0, 3e-9, 6e-9, -1e-8, 4.8e-8}) {
        CAPTURE(drift);
        std::mt19937 random(13);
        const auto stream =
            transmit(join(make_frames(24, kLong, random)), {.esn0_db = 7, .drift = drift}, random);
        FrameSync sync(scrambler);
        const auto popped = receive(sync, stream);
        REQUIRE(popped.size() == 24);
        const double told = double{popped.back().info.drift};
        CHECK((told == 0 || std::abs(told - drift) < 1e-9));
        CHECK((told != 0) == (drift != 0));
    }
}

TEST_CASE(
    "frame_sync: without pilots, no lock is lost and no frame passed on before a large drift is known") {
    const PlScrambler scrambler(0);
    constexpr Pls kWeak{1, FrameSize::normal, false};
    constexpr double kBlockSearch = 1.6e-8;  // what is left may be sought in the data
    for (const double drift : {2e-8, -3e-8, 4.8e-8, -4.8e-8}) {
        for (unsigned seed = 1; seed <= 6; ++seed) {
            CAPTURE(drift);
            CAPTURE(seed);
            std::mt19937 random(seed);
            const TestChannel channel{.esn0_db = -0.35, .frequency = -10e4 * drift, .drift = drift};
            const auto stream = transmit(join(make_frames(12, kWeak, random)), channel, random);
            FrameSync sync(scrambler);
            const auto popped = receive(sync, stream);
            check_starts(popped, 0, 32490, 12);
            CHECK(sync.counts().locks == 1);
            for (const Popped& frame : popped) {
                const double middle = static_cast<double>(frame.info.start) + 0.5 * frame.info.symbols;
                const double frequency = channel.frequency + drift * middle;
                CHECK(std::abs(double{frame.info.drift} - drift) < kBlockSearch);
                CHECK(std::abs(double{frame.info.frequency} - frequency) < 1.5e-3);
            }
        }
    }
}

TEST_CASE("frame_sync: pilots whose phases turn by half a turn and more between them do not hide a drift") {
    const PlScrambler scrambler(0);
    for (const double drift : {1e-7, 2.3e-7, -2.3e-7, 4.6e-7, -4.6e-7}) {
        for (const Pls& pls :
             {kQpskShort, Pls{1, FrameSize::short_, true}, Pls{7, FrameSize::short_, false}}) {
            CAPTURE(drift);
            CAPTURE(pls.code());
            std::mt19937 random(3);
            const double esn0_db = pls.modcod == 1 ? -0.35 : 5;
            const TestChannel channel{.esn0_db = esn0_db, .frequency = -8e4 * drift, .drift = drift};
            const auto sent = make_frames(20, pls, random);
            FrameSync sync(scrambler);
            const auto popped = receive(sync, transmit(join(sent), channel, random));
            check_starts(popped, 0, sent.front().symbols.size(), 20);
            CHECK(sync.counts().locks == 1);
            for (const Popped& frame : popped) {
                const double middle = static_cast<double>(frame.info.start) + 0.5 * frame.info.symbols;
                CHECK(std::abs(double{frame.info.drift} - drift) < 1.6e-8);
                CHECK(std::abs(double{frame.info.frequency} - channel.frequency - drift * middle) < 1e-3);
            }
        }
    }
}

// The latest frames are known as they are.
void check_latest(const std::vector<Popped>& popped, std::size_t count, double drift, double at_end,
                  std::uint64_t end) {
    REQUIRE(popped.size() >= count);
    for (const Popped& frame : std::span(popped).last(count)) {
        const double middle = static_cast<double>(frame.info.start) + 0.5 * frame.info.symbols;
        CHECK(std::abs(double{frame.info.drift} - drift) < 4e-9);
        CHECK(std::abs(double{frame.info.frequency} - at_end - drift * (middle - static_cast<double>(end))) <
              6e-4);
    }
}

TEST_CASE("frame_sync: a drift that ends or begins is noticed, whatever the frames") {
    const PlScrambler scrambler(0);
    constexpr std::size_t kFrames = 30;
    for (const Pls& pls : {Pls{7, FrameSize::short_, false}, Pls{7, FrameSize::short_, true},
                           Pls{7, FrameSize::normal, false}, Pls{7, FrameSize::normal, true}}) {
        for (const auto& [before, after] : {std::pair{4.8e-8, 0.0}, std::pair{0.0, -2.4e-8}}) {
            for (unsigned seed = 1; seed <= 3; ++seed) {
                CAPTURE(pls.code());
                CAPTURE(before);
                CAPTURE(seed);
                std::mt19937 random(seed);
                const auto first = join(make_frames(kFrames, pls, random));
                const auto second = join(make_frames(kFrames, pls, random));
                const auto symbols = static_cast<double>(first.size());
                auto stream = transmit(first, {.esn0_db = 7, .drift = before}, random);
                const double seam = before * symbols;
                append(stream, transmit(second, {.esn0_db = 7, .frequency = seam, .drift = after}, random));
                FrameSync sync(scrambler);
                const auto popped = receive(sync, stream);
                check_latest(popped, 10, after, seam + after * symbols, stream.size());
                CHECK(sync.counts().locks == 1);
            }
        }
    }
}

TEST_CASE("frame_sync: a jump in the first frames is in the end not taken for a drift") {
    const PlScrambler scrambler(0);
    constexpr Pls kPlain{7, FrameSize::short_, false};
    for (const double jump : {1e-3, -1e-3, -7e-4}) {
        for (unsigned seed = 1; seed <= 6; ++seed) {
            CAPTURE(jump);
            CAPTURE(seed);
            std::mt19937 random(seed);
            const auto sent = join(make_frames(50, kPlain, random));
            const auto cut = sent.begin() + static_cast<std::ptrdiff_t>(4 * sent.size() / 50 + 4000);
            auto stream = transmit({sent.begin(), cut}, {.esn0_db = 6}, random);
            append(stream, transmit({cut, sent.end()}, {.esn0_db = 6, .frequency = jump}, random));
            FrameSync sync(scrambler);
            check_latest(receive(sync, stream), 10, 0, jump, stream.size());
        }
    }
}

TEST_CASE("frame_sync: noise alone, silence and a constant give no frame, and every symbol is counted") {
    const PlScrambler scrambler(0);
    std::mt19937 random(6);
    for (const auto& stream :
         {noise(300000, 0, random), std::vector<Iq>(50000), std::vector<Iq>(50000, {1, 0})}) {
        FrameSync sync(scrambler);
        CHECK(receive(sync, stream).empty());
        CHECK(sync.counts().symbols_outside == stream.size());
        CHECK(sync.counts().locks == 0);
    }
}

TEST_CASE("frame_sync: a stream shorter than a header, and one with symbols that are no numbers") {
    const PlScrambler scrambler(0);
    FrameSync tiny(scrambler);
    CHECK(receive(tiny, std::vector<Iq>(17)).empty());
    CHECK(tiny.counts().symbols_outside == 17);

    std::mt19937 random(7);
    auto stream = join(make_frames(8, kQpskShort, random));
    for (std::size_t i = 20000; i < 20100; ++i) {
        stream[i] = {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()};
    }
    FrameSync sync(scrambler);
    check_starts(receive(sync, stream), 0, 8370, 8);
}

TEST_CASE("frame_sync: a single frame at the end of a stream is delivered") {
    const PlScrambler scrambler(0);
    std::mt19937 random(8);
    auto stream = noise(20000, 5, random);
    append(stream, transmit(join(make_frames(1, kQpskShort, random)), {.esn0_db = 5}, random));
    FrameSync sync(scrambler);
    check_starts(receive(sync, stream), 20000, 8370, 1);
}

TEST_CASE("frame_sync: no lock begins with a frame in which the clock leapt; in a lock it is passed over") {
    const PlScrambler scrambler(0);
    std::mt19937 random(11);
    const auto stream = transmit(join(make_frames(6, kQpskShort, random)), {.esn0_db = 12.0}, random);
    for (const std::size_t wreck : {0U, 2U}) {
        CAPTURE(wreck);
        const std::size_t leap = wreck * 8370 + 4000;
        const StrobeMark mark{static_cast<std::uint32_t>(leap), true, static_cast<double>(leap) + 0.5};
        FrameSync sync(scrambler);
        sync.push(stream, {.found = true, .marks = std::span(&mark, 1)});
        const std::size_t first = wreck == 0 ? 1 : 0;
        check_starts(receive(sync, {}), first * 8370, 8370, 6 - first);
        CHECK(sync.counts().locks == 1);
    }
}

}  // namespace
}  // namespace tidemill::dvbs2
