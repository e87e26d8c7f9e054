#include <algorithm>
#include <cstdlib>
#include <limits>
#include <random>
#include <vector>

#include <doctest/doctest.h>

#include "tidemill/dvbs2/receiver/testing/made_signal.hpp"
#include "tidemill/dvbs2/send/multiplexer.hpp"
#include "tidemill/dvbs2/send/pulse_shaper.hpp"

namespace tidemill::dvbs2 {
namespace {

using namespace internal;

using Random = std::mt19937_64;

constexpr std::size_t kFramesPerPass = 24;

// Another carrier, somewhere else, is looked for once the one before has been away for 20,480 symbols.
constexpr std::uint64_t kShortestGapSamples = 50000;

double between(Random& random, double low, double high) {
    return std::uniform_real_distribution(low, high)(random);
}

bool one_in(Random& random, std::uint64_t count) {
    return random() % count == 0;
}

// One to four short or normal frames of any MODCOD, dummy frames among them.
std::vector<PlannedFrame> random_plan(Random& random) {
    std::vector<PlannedFrame> plan;
    for (std::uint64_t left = 1 + random() % 4; left > 0; --left) {
        Pls pls{static_cast<int>(1 + random() % 28),
                one_in(random, 8) ? FrameSize::normal : FrameSize::short_, !one_in(random, 3)};
        if (!pls.is_defined()) pls.size = FrameSize::normal;
        plan.push_back({pls, {}});
        if (one_in(random, 4)) plan.push_back({Pls{}, {}});
    }
    return plan;
}

double hardest_threshold_db(const std::vector<PlannedFrame>& plan) {
    double hardest_db = -10;
    for (const PlannedFrame& frame : plan) {
        if (frame.pls.is_dummy()) continue;
        hardest_db = std::max(hardest_db, double{find_modcod(frame.pls.modcod)->esn0_threshold_db});
    }
    return hardest_db;
}

/// A transmission of its own: where its packets stand among all, and whether all of it should be heard.
struct Pass {
    std::size_t first_packet;
    std::size_t packets;
    bool is_benign;
};

/// Passes one behind the other, each with a channel and accidents of its own.
struct RoughReception {
    std::vector<std::uint8_t> packets;
    std::vector<dsp::Iq> samples;
    std::vector<Pass> passes;

    RoughReception(std::size_t count, std::uint64_t seed) {
        Random random(seed);
        for (std::size_t i = 0; i < count; ++i) add_pass(random);
    }

  private:
    void add_pass(Random& random) {
        const auto plan = random_plan(random);
        const bool is_benign = one_in(random, 2);
        ChannelConfig channel;
        channel.esn0_db =
            hardest_threshold_db(plan) + (is_benign ? between(random, 3, 12) : between(random, -4, 6));
        channel.frequency_cycles_per_symbol = between(random, -0.1, 0.1);
        channel.drift_cycles_per_symbol2 = is_benign ? 0 : between(random, -1e-8, 1e-8);
        channel.phase_noise_deg = is_benign ? 1 : between(random, 0, 12);
        channel.clock_offset_ppm = between(random, -100, 100);
        channel.delay_symbols = between(random, 0, 1);
        channel.inverted_spectrum = one_in(random, 3);
        channel.lead_samples = kShortestGapSamples + random() % 30000;
        channel.tail_samples = random() % 30000;
        channel.seed = random();
        const std::size_t first = packets.size() / io::kTsPacketBytes;
        std::vector<dsp::Iq> received = send(plan, channel, random());
        if (!is_benign) spoil(received, random);
        samples.insert(samples.end(), received.begin(), received.end());
        passes.push_back({first, packets.size() / io::kTsPacketBytes - first, is_benign});
    }

    std::vector<dsp::Iq> send(const std::vector<PlannedFrame>& plan, const ChannelConfig& config,
                              std::uint64_t seed) {
        Multiplexer multiplexer({.plan = plan});
        PulseShaper shaper(2, 0.20);
        std::vector<dsp::Iq> symbols, received;
        while (multiplexer.counts().frames < kFramesPerPass) {
            const auto some = random_packets((multiplexer.missing_bytes() + 187) / 188, ++seed);
            packets.insert(packets.end(), some.begin(), some.end());
            multiplexer.feed(0, some);
            multiplexer.send(symbols);
        }
        while (multiplexer.send_padded(symbols)) {
        }
        Channel channel(config);
        channel.process(shaper.process(symbols), received);
        channel.process(shaper.finish(), received);
        channel.finish(received);
        return received;
    }

    // Dropouts, jumps of level and of phase, missing samples, bursts of interference, numbers that are none.
    static void spoil(std::vector<dsp::Iq>& samples, Random& random) {
        for (std::uint64_t left = random() % 4; left > 0; --left) {
            const std::size_t begin = random() % samples.size();
            const std::size_t length = std::min<std::size_t>(samples.size() - begin, 1 + random() % 40000);
            const auto part = std::span(samples).subspan(begin, length);
            switch (random() % 6) {
                case 0:
                    std::ranges::fill(part, dsp::Iq{});
                    break;
                case 1:
                    std::ranges::for_each(part, [](dsp::Iq& sample) { sample *= 30.0F; });
                    break;
                case 2:
                    std::ranges::for_each(part, [](dsp::Iq& sample) { sample *= dsp::Iq{0, 1}; });
                    break;
                case 3:
                    samples.erase(samples.begin() + static_cast<std::ptrdiff_t>(begin),
                                  samples.begin() + static_cast<std::ptrdiff_t>(begin + length / 100));
                    break;
                case 4:
                    std::ranges::for_each(part, [](dsp::Iq& sample) { sample += dsp::Iq{2, 2}; });
                    break;
                default:
                    part.front() = {std::numeric_limits<float>::quiet_NaN(), 0};
            }
        }
    }
};

struct Seeds {
    std::uint64_t first, last;
};

// More of them find what is rarer: 24 frames in each of twelve passes of a seed. TIDEMILL_SOAK_SEEDS is the
// last one, or FIRST:LAST.
Seeds seeds() {
    const char* given = std::getenv("TIDEMILL_SOAK_SEEDS");
    if (!given) return {1, 3};
    char* end = nullptr;
    const std::uint64_t number = std::strtoull(given, &end, 10);
    if (*end != ':') return {1, number};
    return {number, std::strtoull(end + 1, nullptr, 10)};
}

}  // namespace

TEST_CASE(
    "receiver: through passes of every MODCOD and every kind of trouble it gives out only what was sent, in "
    "order, and finds each good pass again") {
    const Seeds range = seeds();
    for (std::uint64_t seed = range.first; seed <= range.last; ++seed) {
        CAPTURE(seed);
        const RoughReception rough(12, seed);
        const Received received = receive(rough.samples);
        const auto places = places_of(received.packets, rough.packets);
        CHECK(std::ranges::find(places, rough.packets.size()) == places.end());
        CHECK(std::ranges::adjacent_find(places, std::greater_equal<>()) == places.end());
        for (const Pass& pass : rough.passes) {
            CAPTURE(pass.first_packet);
            const auto heard = std::ranges::count_if(places, [&](std::size_t place) {
                return place >= pass.first_packet && place < pass.first_packet + pass.packets;
            });
            if (pass.is_benign) CHECK(static_cast<std::size_t>(heard) * 2 > pass.packets);
        }
    }
}

}  // namespace tidemill::dvbs2
