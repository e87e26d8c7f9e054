#include "tidemill/dvbs2/receiver/receiver.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include <doctest/doctest.h>

#include "tidemill/dsp/gaussian_noise.hpp"
#include "tidemill/dvbs2/receiver/testing/made_signal.hpp"
#include "tidemill/dvbs2/receiver/testing/rx_schedules.hpp"

namespace tidemill::dvbs2 {
namespace {

using namespace internal;

const Received& in_order() {
    static const Received received = receive(broken_reception().samples);
    return received;
}

// Where each received packet stands among those sent; npos for one that was never sent.
std::vector<std::size_t> places(std::span<const std::uint8_t> sent, std::span<const std::uint8_t> received) {
    std::vector<std::size_t> found;
    std::size_t from = 0;
    for (std::size_t at = 0; at < received.size(); at += io::kTsPacketBytes) {
        const auto packet = received.subspan(at, io::kTsPacketBytes);
        while (from < sent.size() && !std::ranges::equal(sent.subspan(from, io::kTsPacketBytes), packet)) {
            from += io::kTsPacketBytes;
        }
        found.push_back(from / io::kTsPacketBytes);
        from += io::kTsPacketBytes;
    }
    return found;
}

}  // namespace

TEST_CASE("receiver: every packet sent comes out, from the first frame on") {
    const MadeReception made = make_reception(kQpsk89, 12, usual_channel());
    const Received received = receive(made.samples);
    const auto from = received_from(made.packets, received.packets);
    REQUIRE(from.has_value());
    CHECK(*from <= 10);  // at most one frame's packets
    CHECK(received.report.totals.frames_bad == 0);
    CHECK(received.report.totals.usual_pls() == kQpsk89);
    CHECK(received.report.totals.esn0_db() == doctest::Approx(8.0).epsilon(0.03));
    // The last frame ends near the end, two samples a symbol.
    const double symbols = static_cast<double>(made.samples.size()) / 2;
    CHECK(std::abs(received.report.totals.end_s * received.report.symbol_rate_hz - symbols) <
          1.5 * layout_of(kQpsk89).symbols);
    CHECK(received.report.sync.locks == 1);
}

TEST_CASE("receiver: of a signal too weak to be decoded it tells how weak it is") {
    ChannelConfig channel = usual_channel();
    channel.esn0_db = 3.0;
    const FrameTotals totals = receive(make_reception(kQpsk89, 12, channel).samples).report.totals;
    CHECK(totals.frames >= 10);
    CHECK(totals.frames_good() == 0);
    CHECK(std::abs(totals.last_esn0_db - 3.0F) < 0.7F);
    CHECK(totals.frames_weak == totals.frames);
    CHECK(std::abs(totals.weakest_esn0_db - 3.0F) < 1.0F);
    CHECK(totals.weakest_esn0_db <= totals.last_esn0_db);
}

TEST_CASE("receiver: frames in which samples are missing are bad, and not too weak") {
    MadeReception made = make_reception(kQpsk89, 24, usual_channel());
    for (const std::size_t frame : {16U, 10U}) {
        const auto hole =
            made.samples.begin() + 40000 + static_cast<std::ptrdiff_t>(frame * kShortFrameSamples + 6001);
        made.samples.erase(hole, hole + 777);
    }
    const FrameTotals totals = receive(made.samples).report.totals;
    CHECK(totals.frames_bad > 0);
    CHECK(totals.frames_weak == 0);
}

TEST_CASE("receiver: an offset of I and Q, and a gain and an angle between them, cost even 32APSK no frame") {
    ChannelConfig channel = usual_channel();
    channel.esn0_db = 17.5;
    channel.iq_offset = {1.0F, -0.5F};
    channel.iq_gain_db = 1.5;
    channel.iq_angle_deg = 6.0;
    const MadeReception made = make_reception({27, FrameSize::short_, true}, 40, channel);
    const Received received = receive(made.samples);
    const auto from = received_from(made.packets, received.packets);
    REQUIRE(from.has_value());
    CHECK(*from == 0);
    CHECK(received.report.totals.frames_bad == 0);
    CHECK(received.report.totals.esn0_db() == doctest::Approx(17.5).epsilon(0.02));
}

TEST_CASE("receiver: where headers alone tell the frequency, it is told without what echoes feign in them") {
    constexpr double kFrequency = 0.01;
    for (const double late : {6.0, 8.0}) {  // feign 3e-4 and more
        ChannelConfig channel{.esn0_db = 12, .frequency_cycles_per_symbol = kFrequency};
        channel.echoes = {{late, -6, 2}};
        const ReceptionReport report =
            receive(make_reception({14, FrameSize::short_, false}, 60, channel).samples).report;
        CAPTURE(late);
        CAPTURE(report.frequency_hz - kFrequency);
        CHECK(report.frames_equalised > 0);
        CHECK(std::abs(report.frequency_hz - kFrequency) < 1e-4);
    }
}

// The part that the channel leaves unexplained is next to nothing there, so that it seems to have changed.
TEST_CASE("receiver: echoes feign no frequency that loses frames where there is no noise") {
    ChannelConfig channel{.esn0_db = 40};
    channel.echoes = {{3.3, -10, 1}};
    const FrameTotals totals =
        receive(make_reception({21, FrameSize::short_, false}, 150, channel).samples).report.totals;
    CHECK(totals.frames == 150);
    CHECK(totals.frames_bad == 0);
}

TEST_CASE("receiver: short bursts of a dense constellation are not blanked, and have no tones") {
    const Pls pls{24, FrameSize::short_, true};
    std::vector<dsp::Iq> samples;
    for (unsigned burst = 0; burst < 12; ++burst) {
        ChannelConfig channel{.esn0_db = 18, .frequency_cycles_per_symbol = 0.004};
        channel.seed = burst + 1;
        channel.tail_samples = 120'000;
        const MadeReception made = make_reception(pls, 6, channel);
        samples.insert(samples.end(), made.samples.begin(), made.samples.end());
    }
    const ReceptionReport report = receive(samples).report;
    CHECK(report.totals.frames >= 60);
    CHECK(report.totals.frames_bad <= 1);
    CHECK(report.samples_blanked < 2000);
    CHECK(report.tones_hz.empty());
}

TEST_CASE("receiver: after a hole in the signal it locks again, keeps the good part and invents nothing") {
    const Received& received = in_order();
    const std::size_t sent = broken_reception().packets.size() / io::kTsPacketBytes;
    const auto found = places(broken_reception().packets, received.packets);
    CHECK(std::ranges::find(found, sent) == found.end());  // in order, and nothing that was not sent
    CHECK(found.back() + 1 == sent);
    CHECK(found.size() < sent);
    CHECK(found.size() > sent * 15 / 24);
    const auto counts = received.report.sync;
    CHECK(counts.symbols_outside + received.report.blocks_without_signal + received.report.totals.frames_bad >
          0);
}

TEST_CASE("receiver: one stage border anywhere changes no bit") {
    const auto units = receiver_units();
    REQUIRE(units.size() == 13);
    for (std::size_t border = 0; border + 1 < units.size(); ++border) {
        CAPTURE(units[border].name);
        std::vector<bool> borders(units.size() - 1, false);
        borders[border] = true;
        const Schedule schedule = schedule_of(units, borders, 1);
        CHECK(same(receive(broken_reception().samples, &schedule), in_order()));
    }
}

TEST_CASE("receiver: all borders and 1 to 4 threads on what may be replicated change no bit") {
    const auto units = receiver_units();
    for (const int threads : {1, 2, 3, 4}) {
        CAPTURE(threads);
        const Schedule schedule = schedule_of(units, std::vector<bool>(units.size() - 1, true), threads);
        CHECK(schedule.thread_count() >= static_cast<int>(units.size()) + 7 * (threads - 1));
        CHECK(same(receive(broken_reception().samples, &schedule), in_order()));
    }
}

TEST_CASE("receiver: random schedules change no bit") {
    const auto units = receiver_units();
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
        CAPTURE(seed);
        const Schedule schedule = random_schedule(units, seed);
        CHECK(same(receive(broken_reception().samples, &schedule, {.waiting = WaitMode::mixed}), in_order()));
    }
}

TEST_CASE("receiver: nothing, silence and pure noise give nothing") {
    std::vector<dsp::Iq> noise(300000);
    for (std::size_t n = 0; n < noise.size(); ++n) noise[n] = 0.2F * dsp::gaussian_noise_at(5, n);
    const std::vector<dsp::Iq> silence(300000);
    const std::vector<dsp::Iq> constant(300000, dsp::Iq{0.5F, 0.5F});
    for (const auto& samples : {std::vector<dsp::Iq>{}, std::vector<dsp::Iq>(1), silence, constant, noise}) {
        CAPTURE(samples.size());
        const Received received = receive(samples);
        CHECK(received.packets.empty());
        CHECK(received.report.totals.frames == 0);
        CHECK(received.report.samples == samples.size());
    }
}

TEST_CASE("receiver: samples that are no numbers are counted, and cost the frames around them only") {
    constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
    constexpr float kInfinite = std::numeric_limits<float>::infinity();
    MadeReception made = make_reception(kQpsk89, 24, usual_channel());
    const std::size_t middle = 40000 + 12 * kShortFrameSamples;
    const std::array<dsp::Iq, 4> bad{dsp::Iq{kNan, 0}, {0, kInfinite}, {-kInfinite, kNan}, {3e38F, 1}};
    for (std::size_t i = 0; i < 400; ++i) made.samples[middle + i] = bad[i % 4];
    const Received received = receive(made.samples);
    // Each bad sample is seen once in its block, and once more where it is another block's history.
    CHECK(received.report.samples_not_finite >= 400);
    CHECK(received.report.totals.frames >= 22);
    CHECK(received.report.totals.frames_bad <= 2);
    CHECK(std::isfinite(received.report.totals.esn0_db()));
    const auto found = places(made.packets, received.packets);
    const std::size_t sent = made.packets.size() / io::kTsPacketBytes;
    CHECK(std::ranges::find(found, sent) == found.end());
    CHECK(found.back() + 1 == sent);
    CHECK(found.size() >= sent * 20 / 24);
}

TEST_CASE("receiver: a signal that starts and ends in mid-frame gives all packets of its whole frames") {
    const MadeReception made = make_reception(kQpsk89, 16, [] {
        ChannelConfig channel = usual_channel();
        channel.lead_samples = channel.tail_samples = 0;
        return channel;
    }());
    const std::size_t cut = kShortFrameSamples / 2;
    const Received received = receive(std::span(made.samples).subspan(cut, made.samples.size() - 2 * cut));
    CHECK(received.report.totals.frames >= 14);
    CHECK(received.report.totals.frames - received.report.totals.frames_bad >= 14);
    const auto found = places(made.packets, received.packets);
    REQUIRE_FALSE(found.empty());
    for (std::size_t i = 0; i < found.size(); ++i) CHECK(found[i] == found[0] + i);
    const std::size_t packets_per_frame = 14232 / 8 / io::kTsPacketBytes;  // of QPSK 8/9, short
    CHECK(found.front() <= 2 * packets_per_frame + 1);
    CHECK(found.size() >= 13 * packets_per_frame);
}

}  // namespace tidemill::dvbs2
