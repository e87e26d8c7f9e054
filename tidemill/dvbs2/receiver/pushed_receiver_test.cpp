#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tidemill/dvbs2/dvbs2_error.hpp"
#include "tidemill/dvbs2/receiver/receiver.hpp"
#include "tidemill/dvbs2/receiver/symbol_tap.hpp"
#include "tidemill/dvbs2/receiver/testing/made_signal.hpp"
#include "tidemill/runtime/threads/run_error.hpp"

namespace tidemill::dvbs2 {
namespace {

using namespace internal;

const MadeReception& made() {
    static const MadeReception reception = make_reception(kQpsk89, 12, usual_channel());
    return reception;
}

RxOutputs into(std::vector<std::uint8_t>& packets) {
    return {.streams = {.packets = [&](auto received, auto) {
                packets.insert(packets.end(), received.begin(), received.end());
            }}};
}

std::span<const std::byte> all_samples() {
    return std::as_bytes(std::span(made().samples));
}

template <class Call>
std::string error_of(Call call) {
    try {
        call();
    } catch (const Error& error) {
        return error.what();
    }
    return "no error";
}

}  // namespace

TEST_CASE("pushed receiver: samples in pieces of any size give the packets of a recording, on any threads") {
    const Received recorded = receive(made().samples);
    struct Way {
        std::size_t threads, waiting;
    };
    for (const auto [threads, waiting] : {Way{0, 5000}, {1, 5000}, {3, 5000}, {1, 0}, {3, 0}}) {
        const std::size_t least = waiting > 0 ? 8 : 8 * 101;  // what is lent is waited for each time
        for (const std::size_t piece : {least, std::size_t{8 * 1001}, std::size_t{8 * 300'000}}) {
            std::vector<std::uint8_t> packets;
            const PushedConfig pushed{.sample_rate_hz = 2, .waiting_samples = waiting, .threads = threads};
            PushedReceiver receiver(pushed, {}, into(packets));
            for (auto left = all_samples(); !left.empty();) {
                const auto part = left.first(std::min(piece, left.size()));
                receiver.push(part);
                left = left.subspan(part.size());
            }
            const ReceptionReport report = receiver.finish();
            CHECK(packets == recorded.packets);
            CHECK(report.totals.frames == recorded.report.totals.frames);
            CHECK(report.samples == made().samples.size());
            CHECK(!receiver.running());
        }
    }
}

TEST_CASE("pushed receiver: it stops while it waits for samples, and when it goes") {
    std::vector<std::uint8_t> packets;
    bool ended = false;
    PushedReceiver starved({.on_end = [&] { ended = true; }}, {}, into(packets));
    starved.stop();
    CHECK(starved.finish().totals.frames == 0);
    CHECK(ended);
    const PushedReceiver dropped({}, {}, into(packets));
    CHECK(!dropped.now().found);
}

TEST_CASE("pushed receiver: what it is told too late, in parts, or in no way that works, it refuses") {
    std::vector<std::uint8_t> packets;
    PushedReceiver receiver({}, {}, into(packets));
    CHECK(error_of([&] { receiver.push(all_samples().first(9)); }) ==
          "9 bytes are no whole number of samples of 8 bytes; push whole ones");
    receiver.end();
    CHECK(error_of([&] { receiver.push(all_samples().first(8)); }) ==
          "samples behind the end: it was said that no more come; make another receiver");
    for (const std::size_t threads : {0u, 1u})
        CHECK_THROWS_AS(PushedReceiver({.sample_rate_hz = -1, .threads = threads}, {}, into(packets)),
                        Dvbs2Error);
}

TEST_CASE("pushed receiver: without threads it refuses the same, and ends when it is told to") {
    std::vector<std::uint8_t> packets;
    int ended = 0;
    const PushedConfig config{.threads = 0, .on_end = [&] { ++ended; }};
    PushedReceiver receiver(config, {}, into(packets));
    CHECK(error_of([&] { receiver.push(all_samples().first(9)); }) ==
          "9 bytes are no whole number of samples of 8 bytes; push whole ones");
    CHECK(receiver.running());
    receiver.end();
    CHECK((!receiver.running() && ended == 1));
    CHECK(error_of([&] { receiver.push(all_samples().first(8)); }) ==
          "samples behind the end: it was said that no more come; make another receiver");
    CHECK(receiver.finish().totals.frames == 0);

    PushedReceiver stopped(config, {}, into(packets));
    stopped.push(all_samples());
    stopped.stop();
    CHECK(error_of([&] { stopped.push(all_samples()); }) ==
          "the reception has ended, so it takes no samples; finish() says why");
    CHECK(stopped.finish().totals.frames > 0);
    CHECK(ended == 2);
    { const PushedReceiver dropped(config, {}, into(packets)); }
    CHECK(ended == 3);
}

TEST_CASE("pushed receiver: without threads, what an output throws comes out of push, and of finish again") {
    std::string told;
    PushedReceiver receiver(
        {.threads = 0}, {},
        {.streams = {.packets = [](auto, auto) { throw std::runtime_error("no player"); }}},
        [&](const std::exception& error) { told = error.what(); });
    const std::string error = error_of([&] { receiver.push(all_samples()); });
    CHECK(error.find("no player") != std::string::npos);
    CHECK(error == told);
    CHECK(error_of([&] { receiver.push(all_samples()); }) ==
          "the reception has ended, so it takes no samples; finish() says why");
    CHECK(error_of([&] { receiver.finish(); }) == error);
}

TEST_CASE("pushed receiver: what is called at its end may throw") {
    for (const std::size_t threads : {0, 1, 3}) {
        std::vector<std::uint8_t> packets;
        PushedReceiver receiver({.threads = threads, .on_end = [] { throw 42; }}, {}, into(packets));
        receiver.push(all_samples().first(8 * 1001));
        receiver.stop();
    }
}

TEST_CASE("pushed receiver: an output that throws ends it, and who pushes is told") {
    for (const std::size_t waiting : {1u, 0u}) {
        std::string told;
        PushedReceiver receiver(
            {.waiting_samples = waiting}, {},
            {.streams = {.packets = [](auto, auto) { throw std::runtime_error("no player"); }}},
            [&](const std::exception& error) { told = error.what(); });
        CHECK(error_of([&] {
                  for (int time = 0; time < 100; ++time) receiver.push(all_samples());
              }) == "the reception has ended, so it takes no samples; finish() says why");
        const std::string error = error_of([&] { receiver.finish(); });
        CHECK(error.find("no player") != std::string::npos);
        CHECK(error == told);
    }
}

TEST_CASE("pushed receiver: where no samples may wait, they are lent until they are read, or it is stopped") {
    std::vector<std::uint8_t> packets;
    const PushedConfig lending{.waiting_samples = 0};
    PushedReceiver receiver(lending, {}, into(packets));
    std::vector<std::byte> own(all_samples().begin(), all_samples().end());
    receiver.push(own);
    std::ranges::fill(own, std::byte{0xff});  // nobody looks there any more
    CHECK(error_of([&] { receiver.push(all_samples().first(9)); }) ==
          "9 bytes are no whole number of samples of 8 bytes; push whole ones");
    CHECK(error_of([&] { receiver.try_push(all_samples()); }) ==
          "no samples may wait, so they are lent: push() does, and waits");
    receiver.push({});
    CHECK(receiver.finish().samples_not_finite == 0);
    CHECK(packets == receive(made().samples).packets);
    CHECK(error_of([&] { receiver.push(all_samples().first(8)); }) ==
          "samples behind the end: it was said that no more come; make another receiver");

    PushedReceiver stopped(lending, {}, {.streams = {.packets = [&](auto, auto) { stopped.stop(); }}});
    CHECK(error_of([&] {
              for (;;) stopped.push(all_samples());
          }) == "the reception has ended, so it takes no samples; finish() says why");
    CHECK(stopped.finish().totals.frames > 0);
    { const PushedReceiver dropped(lending, {}, into(packets)); }
}

TEST_CASE("pushed receiver: who taps its symbols gets those of every frame that was decoded") {
    std::size_t symbols = 0;
    std::vector<std::uint8_t> packets;
    SymbolTap tap([&](std::uint64_t, const std::vector<dsp::Iq>& some) { symbols += some.size(); });
    PushedReceiver receiver({.observers = {&tap}}, {}, into(packets));
    receiver.push(all_samples());
    const ReceptionReport report = receiver.finish();
    CHECK(symbols == report.totals.frames * static_cast<std::size_t>(layout_of(kQpsk89).data_symbols));
}

}  // namespace tidemill::dvbs2
