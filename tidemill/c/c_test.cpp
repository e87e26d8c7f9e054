#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include "tidemill/c/tidemill.h"

namespace {

constexpr std::size_t kPacket = 188;

std::vector<std::uint8_t> packets_of(std::size_t count) {
    std::vector<std::uint8_t> packets(count * kPacket);
    for (std::size_t at = 0; at < packets.size(); ++at)
        packets[at] = at % kPacket == 0 ? 0x47 : static_cast<std::uint8_t>(at / kPacket + at % kPacket);
    return packets;
}

std::vector<float> take_all(tidemill_tx* tx) {
    std::vector<float> samples(2 * tidemill_tx_waiting(tx));
    CHECK(tidemill_tx_take(tx, samples.data(), samples.size()) == samples.size() / 2);
    CHECK(tidemill_tx_waiting(tx) == 0);
    return samples;
}

/// The signal of some packets, in short frames of QPSK 8/9 with pilots.
std::vector<float> signal_of(const std::vector<std::uint8_t>& packets) {
    tidemill_tx_config* const config = tidemill_tx_config_new();
    CHECK(tidemill_tx_config_set_modcod(config, 10) == TIDEMILL_OK);
    CHECK(tidemill_tx_config_set_short_frames(config, 1) == TIDEMILL_OK);
    CHECK(tidemill_tx_config_set_pilots(config, 1) == TIDEMILL_OK);
    tidemill_tx* const tx = tidemill_tx_new(config);
    tidemill_tx_config_free(config);
    REQUIRE(tx);
    std::vector<float> samples;
    const auto add = [&](const std::vector<float>& some) {
        samples.insert(samples.end(), some.begin(), some.end());
    };
    const std::size_t half = packets.size() / kPacket / 2;
    CHECK(tidemill_tx_send(tx, packets.data(), half) == TIDEMILL_OK);
    add(take_all(tx));
    CHECK(tidemill_tx_send(tx, packets.data() + half * kPacket, packets.size() / kPacket - half) ==
          TIDEMILL_OK);
    CHECK(tidemill_tx_finish(tx) == TIDEMILL_OK);
    add(take_all(tx));
    CHECK(tidemill_tx_send(tx, packets.data(), 1) == TIDEMILL_REFUSED);
    CHECK(std::string(tidemill_error()) == "the signal was finished; make another transmitter");
    tidemill_tx_free(tx);
    return samples;
}

const std::vector<std::uint8_t>& sent() {
    static const std::vector<std::uint8_t> packets = packets_of(400);
    return packets;
}

const std::vector<float>& signal() {
    static const std::vector<float> samples = signal_of(sent());
    return samples;
}

/// A configuration that goes with the test.
struct Config {
    tidemill_rx_config* get = tidemill_rx_config_new();
    ~Config() { tidemill_rx_config_free(get); }
};

/// Whether what was received is the end of what was sent: the first frames are needed to lock.
bool is_end_of_sent(const std::vector<std::uint8_t>& received) {
    return received.size() <= sent().size() &&
           std::equal(received.rbegin(), received.rend(), sent().rbegin());
}

}  // namespace

TEST_CASE("what is sent through C is received through C, with callbacks") {
    struct Seen {
        std::vector<std::uint8_t> packets;
        std::uint64_t frames = 0;
        std::uint64_t symbols = 0;
    } seen;
    Config config;
    CHECK(tidemill_rx_config_set_sample_rate(config.get, 1e6) == TIDEMILL_OK);
    CHECK(tidemill_rx_config_on_packets(
              config.get,
              [](void* with, const std::uint8_t* packets, std::size_t count, int stream) {
                  CHECK(stream == 0);
                  auto& to = static_cast<Seen*>(with)->packets;
                  to.insert(to.end(), packets, packets + count * kPacket);
              },
              &seen) == TIDEMILL_OK);
    CHECK(tidemill_rx_config_on_frame(
              config.get,
              [](void* with, const tidemill_frame* frame) {
                  CHECK(frame->size == sizeof(tidemill_frame));
                  CHECK(frame->modcod == 10);
                  CHECK(frame->short_frame == 1);
                  CHECK(frame->good == 1);
                  static_cast<Seen*>(with)->frames++;
              },
              &seen) == TIDEMILL_OK);
    CHECK(tidemill_rx_config_on_symbols(
              config.get,
              [](void* with, const float* symbols, std::size_t count) {
                  CHECK(std::abs(std::hypot(symbols[0], symbols[1]) - 1) < 0.2);
                  static_cast<Seen*>(with)->symbols += count;
              },
              &seen) == TIDEMILL_OK);
    tidemill_rx* const rx = tidemill_rx_new(config.get);
    REQUIRE(rx);
    CHECK(tidemill_rx_push(rx, signal().data(), signal().size() / 2) == TIDEMILL_OK);
    tidemill_rx_report report{};
    report.size = sizeof(report);
    CHECK(tidemill_rx_join(rx, &report) == TIDEMILL_OK);
    CHECK(tidemill_rx_join(rx, &report) == TIDEMILL_OK);  // and again
    CHECK(report.samples == signal().size() / 2);
    CHECK(report.frames > 20);
    CHECK(report.frames == seen.frames);
    CHECK(report.frames_bad == 0);
    CHECK(report.packets * kPacket == seen.packets.size());
    CHECK(seen.symbols == report.frames * 8100);
    CHECK(is_end_of_sent(seen.packets));
    CHECK(seen.packets.size() > 300 * kPacket);
    CHECK(tidemill_rx_running(rx) == 0);
    tidemill_rx_state state{};
    state.size = sizeof(state);
    CHECK(tidemill_rx_now(rx, &state) == TIDEMILL_OK);
    CHECK(state.found == 1);
    CHECK(state.modcod == 10);
    CHECK(state.symbol_rate_hz == 5e5);
    tidemill_rx_free(rx);
}

TEST_CASE("packets are pulled while samples are pushed, and the last ones after the end") {
    for (const std::size_t threads : {0u, 1u, 2u}) {
        Config config;
        CHECK(tidemill_rx_config_set_threads(config.get, threads) == TIDEMILL_OK);
        CHECK(tidemill_rx_config_set_waiting(config.get, 4096, 1) == TIDEMILL_OK);
        tidemill_rx* const rx = tidemill_rx_new(config.get);
        REQUIRE(rx);
        std::jthread feeder([&] {
            const float* at = signal().data();
            for (std::size_t left = signal().size() / 2; left > 0;) {
                std::size_t taken = 0;
                REQUIRE(tidemill_rx_try_push(rx, at, left, &taken) == TIDEMILL_OK);
                if (taken == 0) std::this_thread::yield();
                at += 2 * taken;
                left -= taken;
            }
            CHECK(tidemill_rx_end(rx) == TIDEMILL_OK);
        });
        std::vector<std::uint8_t> received;
        std::vector<std::uint8_t> some(7 * kPacket);
        for (std::size_t got = 1; got > 0;) {
            REQUIRE(tidemill_rx_pull(rx, some.data(), 7, &got) == TIDEMILL_OK);
            received.insert(received.end(), some.begin(),
                            some.begin() + static_cast<std::ptrdiff_t>(got * kPacket));
        }
        CHECK(is_end_of_sent(received));
        CHECK(received.size() > 300 * kPacket);
        CHECK(tidemill_rx_join(rx, nullptr) == TIDEMILL_OK);
        tidemill_rx_free(rx);
    }
}

TEST_CASE("samples that may not wait are lent: packets are the same, and there is nothing to try") {
    Config config;
    std::vector<std::uint8_t> received;
    CHECK(tidemill_rx_config_set_waiting(config.get, 0, 1) == TIDEMILL_OK);
    CHECK(tidemill_rx_config_on_packets(
              config.get,
              [](void* with, const std::uint8_t* packets, std::size_t count, int) {
                  auto& to = *static_cast<std::vector<std::uint8_t>*>(with);
                  to.insert(to.end(), packets, packets + count * kPacket);
              },
              &received) == TIDEMILL_OK);
    tidemill_rx* const rx = tidemill_rx_new(config.get);
    REQUIRE(rx);
    std::size_t taken = 1;
    CHECK(tidemill_rx_try_push(rx, signal().data(), 1, &taken) == TIDEMILL_REFUSED);
    CHECK(taken == 0);
    CHECK(std::string(tidemill_error()) ==
          "no samples may wait in this receiver, so they are lent: tidemill_rx_push() does");
    std::vector<float> own = signal();
    CHECK(tidemill_rx_push(rx, own.data(), own.size() / 2) == TIDEMILL_OK);
    std::ranges::fill(own, std::numeric_limits<float>::quiet_NaN());
    tidemill_rx_report report{};
    report.size = sizeof(report);
    CHECK(tidemill_rx_join(rx, &report) == TIDEMILL_OK);
    CHECK(report.samples == own.size() / 2);
    CHECK(report.samples_not_finite == 0);
    CHECK(is_end_of_sent(received));
    CHECK(received.size() > 300 * kPacket);
    tidemill_rx_free(rx);
}

TEST_CASE("a receiver whose packets nobody pulls can be joined, stopped and freed") {
    Config config;
    CHECK(tidemill_rx_config_set_waiting(config.get, std::size_t{1} << 20, 1) == TIDEMILL_OK);
    for (const int how : {0, 1, 2, 3, 4, 5}) {
        CHECK(tidemill_rx_config_set_threads(config.get, how < 3 ? 1 : 0) == TIDEMILL_OK);
        tidemill_rx* const rx = tidemill_rx_new(config.get);
        REQUIRE(rx);
        CHECK(tidemill_rx_push(rx, signal().data(), signal().size() / 2) == TIDEMILL_OK);
        if (how % 3 == 0) CHECK(tidemill_rx_join(rx, nullptr) == TIDEMILL_OK);
        if (how % 3 == 1) CHECK(tidemill_rx_stop(rx) == TIDEMILL_OK);
        tidemill_rx_free(rx);
    }
}

TEST_CASE("a callback is refused what would wait for it, and the reception goes on") {
    struct Called {
        tidemill_rx* rx = nullptr;
        std::vector<std::string> told;
        std::vector<tidemill_status> statuses;
        std::size_t packets = 0;

        void heard(tidemill_status status) {
            statuses.push_back(status);
            told.emplace_back(tidemill_error());
        }
    };
    for (const std::size_t threads : {0u, 1u}) {
        Called called;
        Config config;
        CHECK(tidemill_rx_config_set_threads(config.get, threads) == TIDEMILL_OK);
        CHECK(tidemill_rx_config_on_packets(
                  config.get,
                  [](void* with, const std::uint8_t*, std::size_t count, int) {
                      auto& to = *static_cast<Called*>(with);
                      to.packets += count;
                      if (!to.told.empty()) return;
                      to.heard(tidemill_rx_join(to.rx, nullptr));
                      to.heard(tidemill_rx_push(to.rx, signal().data(), 1));
                      tidemill_rx_free(to.rx);
                  },
                  &called) == TIDEMILL_OK);
        called.rx = tidemill_rx_new(config.get);
        REQUIRE(called.rx);
        CHECK(tidemill_rx_push(called.rx, signal().data(), signal().size() / 2) == TIDEMILL_OK);
        CHECK(tidemill_rx_join(called.rx, nullptr) == TIDEMILL_OK);
        tidemill_rx_free(called.rx);
        CHECK(called.packets > 300);
        CHECK(called.statuses == std::vector{TIDEMILL_REFUSED, TIDEMILL_REFUSED});
        CHECK(called.told.at(0) ==
              "tidemill_rx_join() in a callback of its receiver would wait for that: join it elsewhere");
    }
}

TEST_CASE("who pulls from a receiver that was stopped is told that no more come") {
    for (const std::size_t threads : {0u, 1u}) {
        Config config;
        CHECK(tidemill_rx_config_set_threads(config.get, threads) == TIDEMILL_OK);
        tidemill_rx* const rx = tidemill_rx_new(config.get);
        REQUIRE(rx);
        std::uint8_t packet[kPacket];
        std::size_t got = 1;
        std::jthread puller([&] { CHECK(tidemill_rx_pull(rx, packet, 1, &got) == TIDEMILL_OK); });
        CHECK(tidemill_rx_stop(rx) == TIDEMILL_OK);
        puller.join();
        CHECK(got == 0);
        tidemill_rx_free(rx);
    }
}

TEST_CASE("what cannot be is refused with a sentence, and changes nothing") {
    Config config;
    const auto refuses = [](tidemill_status status, const std::string& sentence) {
        CHECK(status == TIDEMILL_REFUSED);
        CHECK(std::string(tidemill_error()) == sentence);
    };
    refuses(tidemill_rx_config_set_sample_rate(nullptr, 1), "config is null; give one");
    refuses(tidemill_rx_config_set_sample_rate(config.get, std::numeric_limits<double>::quiet_NaN()),
            "a rate of nan Hz: give more, or 0 where it is not known");
    refuses(tidemill_rx_config_set_rolloff(config.get, 0), "a roll-off of 0: give more than 0 and at most 1");
    refuses(tidemill_rx_config_set_gold_code(config.get, -1),
            "gold code -1 does not exist: choose one from 0 to 262141");
    refuses(tidemill_rx_config_set_threads(config.get, 1025), "1025 threads: give at most 1024");
    refuses(tidemill_rx_config_set_stream(config.get, 256),
            "input stream 256: give 0 to 255, -1 for the first or -2 for all");
    refuses(tidemill_rx_config_set_waiting(config.get, 1, 0),
            "room for 1 samples and 0 packets: give at most 268435456 samples and 1 to 268435456 packets");
    CHECK(tidemill_rx_new(nullptr) == nullptr);
    CHECK(std::string(tidemill_error()) == "config is null; give one");

    tidemill_rx* const rx = tidemill_rx_new(config.get);
    REQUIRE(rx);
    refuses(tidemill_rx_push(rx, nullptr, 1), "samples is null; give one");
    constexpr std::size_t kWraps = (std::size_t{1} << 61) + 1;
    refuses(tidemill_rx_push(rx, signal().data(), kWraps),
            "2305843009213693953 samples: no memory holds that many");
    tidemill_rx_state state{};
    refuses(tidemill_rx_now(rx, &state), "state->size is 0; set it to sizeof *state before");
    std::size_t got = 0;
    std::uint8_t packet[kPacket];
    refuses(tidemill_rx_pull(rx, packet, 0, &got), "room for 0 packets; give room for one at least");
    CHECK(tidemill_rx_end(rx) == TIDEMILL_OK);
    CHECK(tidemill_rx_push(rx, signal().data(), 1) == TIDEMILL_FAILED);
    CHECK(std::string(tidemill_error()) ==
          "samples behind the end: it was said that no more come; make another receiver");
    tidemill_rx_free(rx);
    tidemill_rx_free(nullptr);

    tidemill_tx_config* const sending = tidemill_tx_config_new();
    refuses(tidemill_tx_config_set_modcod(sending, 29), "MODCOD 29: give a number from 1 to 28");
    CHECK(tidemill_tx_config_set_rolloff(sending, 0.5) == TIDEMILL_OK);
    CHECK(tidemill_tx_new(sending) == nullptr);
    CHECK(tidemill_tx_config_set_rolloff(sending, 0.25) == TIDEMILL_OK);
    tidemill_tx* const tx = tidemill_tx_new(sending);
    REQUIRE(tx);
    const std::vector<std::uint8_t> nothing(kPacket);
    refuses(tidemill_tx_send(tx, nothing.data(), 1),
            "packet 0 begins with 0x00; give whole packets of 188 bytes, which begin with 0x47");
    tidemill_tx_free(tx);
    tidemill_tx_config_free(sending);
}

TEST_CASE("a structure of an older version is filled as far as it goes") {
    Config config;
    tidemill_rx* const rx = tidemill_rx_new(config.get);
    REQUIRE(rx);
    tidemill_rx_state state{};
    state.size = offsetof(tidemill_rx_state, modcod);
    state.modcod = 99;
    CHECK(tidemill_rx_now(rx, &state) == TIDEMILL_OK);
    CHECK(state.size == offsetof(tidemill_rx_state, modcod));
    CHECK(state.modcod == 99);
    tidemill_rx_free(rx);
}

TEST_CASE("MODCODs and formats have names and sizes") {
    CHECK(std::string(tidemill_modcod_name(10)) == "QPSK 8/9");
    CHECK(std::string(tidemill_modcod_name(28)) == "32APSK 9/10");
    CHECK(tidemill_modcod_name(0) == nullptr);
    CHECK(tidemill_modcod_name(29) == nullptr);
    CHECK(tidemill_sample_bytes(TIDEMILL_CF32) == 8);
    CHECK(tidemill_sample_bytes(TIDEMILL_CU8) == 2);
    CHECK(tidemill_sample_bytes(static_cast<tidemill_format>(5)) == 0);
    CHECK(std::string(tidemill_version()).find('.') != std::string::npos);
}
