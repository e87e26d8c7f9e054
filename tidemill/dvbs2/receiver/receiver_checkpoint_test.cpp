#include <algorithm>
#include <random>

#include <doctest/doctest.h>

#include "tidemill/dvbs2/receiver/testing/made_signal.hpp"
#include "tidemill/dvbs2/receiver/testing/rx_schedules.hpp"
#include "tidemill/runtime/dynamic/dynamic.hpp"
#include "tidemill/runtime/stream/checkpoint.hpp"

namespace tidemill::dvbs2 {
namespace {

using namespace internal;

/// Receives so many blocks at a time, each time with a receiver of its own that goes on from the checkpoint
/// of the one before, under this executor or that.
Received receive_in_pieces(std::span<const dsp::Iq> samples, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    const std::vector<ScheduledUnit> units = receiver_units();
    Received received;
    Checkpoint checkpoint;
    for (int piece = 0;; ++piece) {
        MemorySource source(samples);
        Receiver receiver(source, {}, [&](std::span<const std::uint8_t> packets) {
            received.packets.insert(received.packets.end(), packets.begin(), packets.end());
        });
        const RunOptions options{.frames = 1 + random() % 9, .restore = piece > 0 ? &checkpoint : nullptr};
        const auto run = [&](auto executor) {
            const RunReport report = executor.run(options);
            checkpoint = executor.checkpoint();
            return report.frames == options.frames;
        };
        std::vector<bool> borders(units.size() - 1);
        std::generate(borders.begin(), borders.end(), [&] { return random() % 2 == 0; });
        const bool goes_on = random() % 3 == 0 ? run(Sequence(receiver.graph()))
                             : random() % 2 == 0
                                 ? run(Dynamic(receiver.graph(), {.workers = 2}))
                                 : run(Pipeline(receiver.graph(), schedule_of(units, borders, 2)));
        received.report = receiver.report();
        if (!goes_on) return received;
    }
}

}  // namespace

TEST_CASE("a reception goes on from any checkpoint under any executor with the same packets and accounts") {
    const MadeReception& made = broken_reception();
    const Received whole = receive(made.samples);
    REQUIRE(whole.packets.size() > 100 * io::kTsPacketBytes);
    for (std::uint64_t seed = 1; seed <= 4; ++seed) {
        CAPTURE(seed);
        CHECK(same(receive_in_pieces(made.samples, seed), whole));
    }
}

TEST_CASE("a receiver's modules all keep what they hold") {
    MemorySource nothing({});
    Receiver receiver(nothing, {}, [](auto) {});
    CHECK(receiver.graph().not_kept().empty());
}

TEST_CASE("a reception of another recording, or of one that is too short, cannot go on") {
    const MadeReception& made = broken_reception();
    MemorySource source(made.samples);
    Receiver receiver(source, {}, [](auto) {});
    Sequence sequence(receiver.graph());
    sequence.run({.frames = 10});
    const Checkpoint checkpoint = sequence.checkpoint();

    MemorySource cut_off(std::span(made.samples).first(50000));
    Receiver short_one(cut_off, {}, [](auto) {});
    CHECK_THROWS_WITH_AS(
        Sequence(short_one.graph()).run({.restore = &checkpoint}),
        "the checkpoint does not fit module 'source': the recording ends before the place at "
        "which the checkpoint was taken",
        CheckpointError);
    MemorySource again(made.samples);
    Receiver other(again, {.symbol_rate_hz = 0.7}, [](auto) {});
    CHECK_THROWS_AS(Sequence(other.graph()).run({.restore = &checkpoint}), CheckpointError);
}

}  // namespace tidemill::dvbs2
