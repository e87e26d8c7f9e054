#include "tidemill/dvbs2/front/tone_watch.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <vector>

#include <doctest/doctest.h>

#include "tidemill/dvbs2/receiver/testing/made_signal.hpp"
#include "tidemill/dvbs2/send/frame_modulator.hpp"
#include "tidemill/dvbs2/send/pulse_shaper.hpp"
#include "tidemill/dvbs2/send/transmitter.hpp"
#include "tidemill/dvbs2/standard/pl_scrambler.hpp"

namespace tidemill::dvbs2 {
namespace {

using namespace internal;

const FrontGeometry kGeometry{FrontConfig{}};
constexpr std::size_t kBlock = kMaxBlockSamples;

std::vector<Iq> sent_over(const ChannelConfig& channel, int modcod = 7, std::size_t frames = 24) {
    return make_reception({modcod, FrameSize::short_, true}, frames, channel).samples;
}

// Looks at each block of a stream; most tones that it held at once, and those of its end.
struct Seen {
    std::uint32_t most = 0;
    ToneList last{};
};

Seen look_at(std::span<const Iq> samples) {
    ToneWatch watch(kGeometry);
    Seen seen;
    Iq sum{};  // of all blocks before
    for (std::size_t n = 0; n + kBlock <= samples.size(); n += kBlock) {
        watch.look(samples.subspan(n, kToneBins), n > 0 ? sum / static_cast<float>(n) : Iq{});
        const auto block = samples.subspan(n, kBlock);
        sum = std::accumulate(block.begin(), block.end(), sum);
        seen.most = std::max(seen.most, watch.tones().count);
    }
    seen.last = watch.tones();
    return seen;
}

}  // namespace

TEST_CASE("tones: a clean signal of any constellation, with pilots, clipped or in noise, has none") {
    for (const int modcod : {1, 7, 14, 19, 27}) {
        for (const double esn0_db : {-3.0, 5.0, 60.0}) {
            CAPTURE(modcod);
            CAPTURE(esn0_db);
            std::vector<Iq> samples = sent_over({.esn0_db = esn0_db}, modcod);
            CHECK(look_at(samples).most == 0);
            for (Iq& x : samples) x = {std::clamp(x.real(), -0.3F, 0.3F), std::clamp(x.imag(), -0.3F, 0.3F)};
            CHECK(look_at(samples).most == 0);
        }
    }
}

TEST_CASE("tones: dummy frames and packets of nothing are none, though their spectra are of lines") {
    const std::vector<Iq> dummy = dummy_plframe(PlScrambler(0));
    PulseShaper shaper(2, 0.2);
    std::vector<Iq> samples;
    for (int i = 0; i < 100; ++i) {
        const std::span<const Iq> more = shaper.process(dummy);
        samples.insert(samples.end(), more.begin(), more.end());
    }
    CHECK(samples.size() > 20 * kBlock);
    CHECK(look_at(samples).most == 0);
    Transmitter idle(TransmitterConfig{{7, FrameSize::short_, true}});
    std::vector<std::uint8_t> nulls(2000 * io::kTsPacketBytes, 0xff);
    for (std::size_t at = 0; at < nulls.size(); at += io::kTsPacketBytes) nulls[at] = io::kTsSyncByte;
    samples.clear();
    idle.transmit(nulls, samples);
    CHECK(samples.size() > 20 * kBlock);
    CHECK(look_at(samples).most == 0);
}

TEST_CASE("tones: a carrier that is gone for a moment leaves none, and that of another level shows its own") {
    const std::vector<Iq> signal = sent_over({.esn0_db = 40}, 14, 60);
    ChannelConfig channel{.esn0_db = 20, .seed = 2};
    channel.disturbances.tones = {{0.21, -10, 0}};
    std::vector<Iq> other = sent_over(channel, 14);
    for (Iq& x : other) x *= 0.05F;
    REQUIRE(signal.size() > 25 * kBlock);
    for (const std::uint64_t seed : {1, 2, 3, 4, 5, 6}) {
        CAPTURE(seed);
        ToneWatch watch(kGeometry);
        const auto look = [&](std::span<const Iq> samples) { watch.look(samples.first(kToneBins)); };
        for (std::size_t block = 0; block < 25; ++block) {
            look(std::span(signal).subspan(block * kBlock));
            CHECK(watch.tones().count == 0);
            if (block != 10) continue;
            std::mt19937_64 random(seed);
            std::normal_distribution<float> noise(0, 0.007F);
            for (const std::size_t left : {0UL, 1500UL, 300UL}) {
                std::vector<Iq> gone(signal.begin(), signal.begin() + std::ptrdiff_t{kToneBins});
                for (std::size_t n = left; n < kToneBins; ++n) gone[n] = {noise(random), noise(random)};
                look(gone);
                CHECK(watch.tones().count == 0);
            }
        }
        for (std::size_t block = 0; block < 6; ++block) look(std::span(other).subspan(block * kBlock));
        CHECK(watch.tones().count == 1);
    }
}

TEST_CASE("tones: what filters give of a signal that has ended is none") {
    ToneWatch watch(kGeometry);
    const std::vector<Iq> signal = sent_over({.esn0_db = 40}, 14, 60);
    for (std::size_t block = 0; block < 8; ++block)
        watch.look(std::span(signal).subspan(block * kBlock).first(kToneBins));
    // A constant that falls, and silence.
    float left = 1e-3F;
    for (int looks = 0; looks < 40; ++looks, left *= 0.97F) {
        watch.look(std::vector<Iq>(kToneBins, Iq(left, -left)));
        CHECK(watch.tones().count == 0);
    }
    watch.look(std::vector<Iq>(kToneBins));
    CHECK(watch.tones().count == 0);
}

TEST_CASE("tones: from -15 dB on they are found, up to the band's edge, a third of a bin beside at most") {
    for (const double db : {-15.0, -10.0, 3.0, 30.0}) {
        for (const double place : {0.21, -0.13, 0.42, 0.58, 0.9}) {
            CAPTURE(db);
            CAPTURE(place);
            ChannelConfig channel{.esn0_db = 6};
            channel.disturbances.tones = {{place, db, 0}};
            const Seen seen = look_at(sent_over(channel));
            REQUIRE(seen.last.count >= 1);
            CHECK(std::abs(seen.last.frequency[0] - place / 2) * kToneBins < 0.34);
            CHECK(seen.most == 1);
        }
    }
}

TEST_CASE(
    "tones: one that moves over the offset of I and Q is followed, one that stands there is that offset") {
    ChannelConfig channel{.esn0_db = 6};
    const double blocks = 24.0 * 8370 * 2 / kBlock, symbols = 24.0 * 8370;
    REQUIRE(blocks > 20);
    channel.disturbances.tones = {{-0.01, 0, 0.02 / symbols}};
    CHECK(look_at(sent_over(channel)).last.frequency[0] * 2 == doctest::Approx(0.01).epsilon(0.1));
    channel.disturbances.tones = {{0, 0, 0}};
    CHECK(look_at(sent_over(channel)).most == 0);
}

TEST_CASE("tones: one beside the offset of I and Q is found, with that offset and without") {
    for (const double bins : {0.65, -1.5, 3.0, -4.0}) {
        for (const float offset : {0.0F, 0.3F}) {
            CAPTURE(bins);
            CAPTURE(offset);
            ChannelConfig channel{.esn0_db = 6};
            channel.disturbances.tones = {{bins * 2 / kToneBins, 0, 0}};
            std::vector<Iq> samples = sent_over(channel);
            for (Iq& x : samples) x += offset;
            const Seen seen = look_at(samples);
            REQUIRE(seen.last.count == 1);
            CHECK(std::abs(seen.last.frequency[0] * kToneBins - bins) < 0.34);
            CHECK(seen.most == 1);
        }
    }
}

TEST_CASE("tones: one beside zero is told from an offset that is known, once that had its time to be known") {
    for (const double cycles : {5e-5, 3e-4}) {
        CAPTURE(cycles);
        ChannelConfig channel{.esn0_db = 15};
        channel.disturbances.tones = {{cycles, -6, 0}};
        std::vector<Iq> samples = sent_over(channel);
        for (Iq& x : samples) x += Iq{0.1F, -0.05F};
        const Seen seen = look_at(samples);
        REQUIRE(seen.last.count == 1);
        CHECK(std::abs(seen.last.frequency[0]) * kToneBins < 0.7);
    }
}

TEST_CASE(
    "tones: a watch looks at each block until it knows the spectrum, then rarely, and where power changes") {
    const std::vector<Iq> samples = sent_over({.esn0_db = 6});
    ToneWatch watch(kGeometry);
    BlockSpectrum spectrum;
    spectrum.chunk[0].power = 1;
    const auto wants = [&](std::int64_t block) {
        spectrum.block = block;
        return watch.wants(spectrum, true);
    };
    for (std::int64_t block = 0; block < 16; ++block) {
        CHECK(wants(block));
        watch.look(std::span(samples).subspan(static_cast<std::size_t>(block) * kBlock, kToneBins));
    }
    int looks = 0;
    for (std::int64_t block = 16; block < 96; ++block) looks += wants(block) ? 1 : 0;
    CHECK(looks == 5);
    spectrum.chunk[0].power = 1.3;
    CHECK(wants(97));
}

}  // namespace tidemill::dvbs2
