#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tidemill/dvbs2/receiver/testing/made_signal.hpp"
#include "tidemill/dvbs2/receiver/testing/rx_schedules.hpp"

namespace tidemill::dvbs2 {
namespace {

using namespace internal;

// Decibels above table 13's threshold, which is that of normal frames; short ones need some 0.3 dB more.
// Without pilots a carrier below 0 dB is known from its headers alone: one frame in fifty of QPSK 1/4 is lost
// at one decibel, none in 600 at two.
double margin_db(const Pls& pls) {
    if (pls.size == FrameSize::normal) return 1.0;
    return pls.modcod == 1 && !pls.pilots ? 2.0 : 1.3;
}

// A channel with some of everything.
ChannelConfig channel_for(const Pls& pls, std::uint64_t seed) {
    ChannelConfig channel;
    channel.esn0_db = find_modcod(pls.modcod)->esn0_threshold_db + margin_db(pls);
    channel.frequency_cycles_per_symbol = seed % 2 ? 0.04 : -0.07;
    channel.phase_rad = 0.1 * static_cast<double>(seed);
    channel.delay_symbols = 0.1 * static_cast<double>(seed % 10);
    channel.clock_offset_ppm = seed % 3 ? 30 : -50;
    channel.lead_samples = 5000;
    channel.tail_samples = 5000;
    channel.seed = seed;
    return channel;
}

std::vector<Pls> every_qpsk_and_psk8() {
    std::vector<Pls> all;
    for (const Modcod& modcod : all_modcods()) {
        if (modcod.modulation != Modulation::qpsk && modcod.modulation != Modulation::psk8) continue;
        for (const FrameSize size : {FrameSize::normal, FrameSize::short_}) {
            for (const bool pilots : {true, false}) {
                const Pls pls{modcod.number, size, pilots};
                if (pls.is_defined()) all.push_back(pls);
            }
        }
    }
    return all;
}

}  // namespace

TEST_CASE(
    "receiver: every MODCOD of QPSK and 8PSK comes out bit-exact a decibel above its threshold, a short "
    "frame 1.3") {
    const auto all = every_qpsk_and_psk8();
    CHECK(all.size() == 2 * (17 + 15));
    for (const Pls& pls : all) {
        const Modcod& modcod = *find_modcod(pls.modcod);
        const std::string label = fmt::format("{} {} {} pilots {}", name(modcod.modulation),
                                              name(modcod.rate), name(pls.size), pls.pilots);
        CAPTURE(label);
        const bool is_short = pls.size == FrameSize::short_;
        const auto made = make_reception(pls, is_short ? 24 : 8,
                                         channel_for(pls, 1 + static_cast<std::uint64_t>(pls.code())));
        const Received received = receive(made.samples);
        CHECK(received.report.totals.usual_pls() == pls);
        CHECK(received.report.totals.frames_bad == 0);
        const auto from = received_from(made.packets, received.packets);
        CHECK(from.has_value());
        if (!from) continue;
        const std::size_t frames = is_short ? 24 : 8;
        const std::size_t may_be_lost = is_short ? 4 : 2;
        CHECK(*from <= made.packets.size() / io::kTsPacketBytes * may_be_lost / frames + 1);
    }
}

TEST_CASE("receiver: 200 random schedules give what the sequence gives") {
    ChannelConfig channel = channel_for(kQpsk89, 3);
    channel.lead_samples = 30000;
    MadeReception made = make_reception(kQpsk89, 16, channel);
    std::fill_n(made.samples.begin() + 150000, 40000, dsp::Iq{});  // lost and found again
    const Received in_order = receive(made.samples);
    REQUIRE(in_order.report.totals.frames > 8);
    const auto units = receiver_units();
    for (std::uint64_t seed = 1000; seed < 1200; ++seed) {
        CAPTURE(seed);
        const Schedule schedule = random_schedule(units, seed);
        CHECK(same(receive(made.samples, &schedule, {.waiting = WaitMode::mixed}), in_order));
    }
}

}  // namespace tidemill::dvbs2
