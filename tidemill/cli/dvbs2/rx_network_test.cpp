// Receptions from a network: samples over TCP, and a radio behind rtl_tcp.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "tidemill/dvbs2/receiver/testing/wide_band.hpp"
#include "tidemill/testing/loopback_server.hpp"
#include "tidemill/testing/program.hpp"
#include "tidemill/testing/small_recording.hpp"

namespace tidemill::cli {
namespace {

using namespace internal;

const SmallRecording& recording_of_a_dongle() {
    static const SmallRecording recording(dsp::SampleFormat::cu8);
    return recording;
}

std::uint32_t value_of(const std::string& commands, char command) {
    for (std::size_t at = 0; at + 5 <= commands.size(); at += 5) {
        if (commands[at] != command) continue;
        std::uint32_t value = 0;
        for (std::size_t i = 1; i < 5; ++i) value = value << 8 | static_cast<unsigned char>(commands[at + i]);
        return value;
    }
    return 0;
}

struct OverRtlTcp {
    Ended ended;
    std::string commands;
};

// A radio that has given something may go on later: it is a policy that ends the reception.
OverRtlTcp receive_over_rtl_tcp(std::vector<std::string> options, const std::string& samples) {
    const LoopbackServer server;
    OverRtlTcp result{};
    options.insert(options.end(), {"--exit-on", "no-samples:500ms"});
    const std::string words = fmt::format("{}", fmt::join(options, " "));
    std::thread radio([&] {
        const LoopbackPeer peer(server.accept());
        peer.send(std::string("RTL0\0\0\0\5\0\0\0\35", 12));
        result.commands = peer.receive(5 * (says(words, "--gain") ? 7 : 6));
        peer.send(samples);
        if (!samples.empty()) peer.receive(1);  // until the receiver has gone
    });
    result.ended = receive_json(fmt::format("rtl_tcp://127.0.0.1:{}", server.port()), options);
    radio.join();
    return result;
}

}  // namespace

TEST_CASE("rx tcp-listen://: samples that come over a connection give the packets that a file gives") {
    const ScratchFolder folder;
    const SmallRecording& recording = recording_of_a_dongle();
    REQUIRE(receive_json(recording.meta, {"-o", folder / "file.ts"}).status == 0);
    const std::uint16_t port = LoopbackServer().port();
    std::thread sender([&] { LoopbackPeer(LoopbackPeer::connect(port)).send(recording.bytes()); });
    const Ended ended = receive_json(fmt::format("tcp-listen://127.0.0.1:{}", port),
                                     {"--format", "cu8", "--rate", "2M", "-o", folder / "net.ts"});
    sender.join();
    REQUIRE_MESSAGE(ended.status == 0, ended.err);
    CHECK(ScratchFolder::content_of(folder / "net.ts") == ScratchFolder::content_of(folder / "file.ts"));
}

TEST_CASE("rx rtl_tcp://: a radio is set up and received") {
    const ScratchFolder folder;
    const auto [ended, commands] =
        receive_over_rtl_tcp({"--freq", "10491.5M", "--lo", "9750M", "--rate", "2M", "--symbol-rate", "1M",
                              "--gain", "20", "-o", folder / "out.ts"},
                             recording_of_a_dongle().bytes());
    REQUIRE_MESSAGE(ended.status == 4, ended.err);
    CHECK(value_of(commands, 1) == 741'500'000);  // no room beside the carrier
    CHECK(value_of(commands, 2) == 2'000'000);
    CHECK(value_of(commands, 4) == 200);
    CHECK(ScratchFolder::content_of(folder / "out.ts").size() > 188 * 300);
}

TEST_CASE("rx rtl_tcp://: with room, the radio is tuned beside the carrier") {
    const auto [ended, commands] = receive_over_rtl_tcp(
        {"--freq", "741.5M", "--rate", "2.4M", "--symbol-rate", "333k", "-o", "/dev/null"}, "");
    CHECK(ended.status == 3);
    CHECK(value_of(commands, 1) == 741'500'000 - 249'775);
}

TEST_CASE("rx rtl_tcp://: a carrier's frequency is counted from --freq, wherever the radio was put") {
    constexpr double kAsideHz = 193'750;  // as the plan puts 250 kBd
    const std::vector<dvbs2::internal::BandCarrier> carriers{
        {.symbol_rate_hz = 250e3, .offset_hz = kAsideHz + 2e3}};
    const auto band =
        dvbs2::internal::make_band({.sample_rate_hz = 2e6, .seconds = 0.4, .esn0_db = 11}, carriers);
    std::string samples;
    for (const auto& sample : band.samples)
        for (const float part : {sample.real(), sample.imag()})
            samples += static_cast<char>(std::lround(std::clamp(127.5F + 30 * part, 0.0F, 255.0F)));
    const ScratchFolder folder;
    const auto [ended, commands] =
        receive_over_rtl_tcp({"--freq", "741.5M", "--rate", "2M", "--symbol-rate", "250k", "-o", "/dev/null",
                              "--status", folder / "status"},
                             samples);
    REQUIRE_MESSAGE(ended.status == 4, ended.err);
    CHECK(value_of(commands, 1) == 741'500'000 - 193'750);
    INFO(ended.err);
    INFO(ScratchFolder::content_of(folder / "status"));
    const auto told = nlohmann::json::parse(ended.out);
    CHECK(told["frequency_offset_hz"].get<double>() == doctest::Approx(2e3).epsilon(0.02));
    CHECK(says(ended.err, "+2.0 kHz"));
    std::istringstream lines(ScratchFolder::content_of(folder / "status"));
    std::size_t told_lines = 0;
    for (std::string line; std::getline(lines, line);) {
        const auto json = nlohmann::json::parse(line);
        if (json["offset_hz"].is_null()) continue;
        ++told_lines;
        CHECK(json["offset_hz"].get<double>() == doctest::Approx(2e3).epsilon(0.02));
    }
    CHECK(told_lines > 0);
}

TEST_CASE("rx rtl_tcp://: a radio that vanishes is set up again, and the time without it is missing") {
    const LoopbackServer server;
    std::vector<std::string> commands;
    std::thread radio([&] {
        for (int times = 0; times < 2; ++times) {
            const LoopbackPeer peer(server.accept());
            peer.send(std::string("RTL0\0\0\0\5\0\0\0\35", 12));
            commands.push_back(peer.receive(5 * 6));
            peer.send(recording_of_a_dongle().bytes());
        }
    });
    const ScratchFolder folder;
    const Ended ended = receive_json(fmt::format("rtl_tcp://127.0.0.1:{}", server.port()),
                                     {"--freq", "741.5M", "--rate", "2M", "--symbol-rate", "1M", "-o",
                                      folder / "out.ts", "--exit-on", "no-samples:3s"});
    radio.join();
    CHECK(ended.status == 4);
    CHECK(says(ended.err, "has vanished, and is looked for"));
    REQUIRE(commands.size() == 2);
    CHECK(commands[0] == commands[1]);
    const auto told = nlohmann::json::parse(ended.out);
    // The pause before it was looked for. On a busy machine the ring may lose some more, which it counts
    // itself.
    const int estimated = told["losses"]["samples_missing_estimated"].get<int>();
    CHECK(estimated > 500'000);
    CHECK(told["losses"]["samples_missing"].get<int>() >= estimated);
    const std::size_t sent = recording_of_a_dongle().packets.size();
    CHECK(ScratchFolder::content_of(folder / "out.ts").size() > sent + sent / 2);
}

TEST_CASE("rx tcp-listen://: a connection that is reset leaves whole files and a report, and is an error") {
    const ScratchFolder folder;
    const std::uint16_t port = LoopbackServer().port();
    const std::string out = folder / "out.ts";
    std::thread sender([&] {
        LoopbackPeer peer(LoopbackPeer::connect(port));
        peer.send(recording_of_a_dongle().bytes());
        while (ScratchFolder::content_of(out).empty()) std::this_thread::yield();
        const linger none{.l_onoff = 1, .l_linger = 0};
        ::setsockopt(peer.socket(), SOL_SOCKET, SO_LINGER, &none, sizeof none);
        peer.close();
    });
    const Ended ended = receive_json(fmt::format("tcp-listen://127.0.0.1:{}", port),
                                     {"--format", "cu8", "--rate", "2M", "--symbol-rate", "1M", "-o", out,
                                      "--iq-out", folder / "iq", "--report", folder / "report.html"});
    sender.join();
    CHECK_MESSAGE(ended.status == 1, ended.err);
    CHECK(says(ended.err, "reset by peer"));
    const auto told = nlohmann::json::parse(ended.out);
    CHECK(told["ts_packets"].get<std::size_t>() * 188 == ScratchFolder::content_of(out).size());
    CHECK(says(ScratchFolder::content_of(folder / "report.html"), "</html>"));
    CHECK(says(ScratchFolder::content_of(folder / "iq.sigmf-meta"), "annotations"));
}

TEST_CASE("rx rtl_tcp://: what is missing or does not fit is asked for") {
    const auto refused = [](const std::vector<std::string>& words) {
        std::vector<std::string> all{"dvbs2", "rx"};
        all.insert(all.end(), words.begin(), words.end());
        const Ended ended = run_program(all);
        CHECK(ended.status == 2);
        return ended.err;
    };
    CHECK(says(refused({"rtl_tcp://127.0.0.1:9", "--rate", "2M", "-o", "x.ts"}), "--freq"));
    CHECK(says(refused({"rtl_tcp://127.0.0.1:9", "--freq", "1G", "-o", "x.ts"}), "--rate"));
    CHECK(says(refused({recording_of_a_dongle().meta, "--freq", "1G", "-o", "x.ts"}), "is no radio"));
    CHECK(says(refused({"rtl_tcp://127.0.0.1:9", "--rate", "2M", "--freq", "1G", "--lo", "2G", "-o", "x.ts"}),
               "below 0 Hz"));
    CHECK(says(
        refused({"rtl_tcp://127.0.0.1:9", "--rate", "2M", "--freq", "1G", "--antenna", "LNAW", "-o", "x.ts"}),
        "are for driver=NAME"));
}

TEST_CASE("scan --live: a radio's range is gone over in steps, each carrier named once") {
    const LoopbackServer server;
    std::vector<std::uint32_t> tuned;
    std::string hiss(1 << 18, '\0');
    unsigned state = 1;
    for (char& byte : hiss) byte = static_cast<char>((state = state * 1664525 + 1013904223) >> 24);
    std::thread radio([&] {
        for (int step = 0; step < 2; ++step) {
            const LoopbackPeer peer(server.accept());
            peer.send(std::string("RTL0\0\0\0\5\0\0\0\35", 12));
            tuned.push_back(value_of(peer.receive(5 * 6), 1));
            peer.send(step == 0 ? recording_of_a_dongle().bytes() : hiss);
        }
    });
    const Ended ended = run_program({"dvbs2", "scan", fmt::format("rtl_tcp://127.0.0.1:{}", server.port()),
                                     "--rate", "2M", "--live", "740M:743M"});
    radio.join();
    REQUIRE_MESSAGE(ended.status == 0, ended.err);
    CHECK(tuned == std::vector<std::uint32_t>{740'800'000, 742'400'000});
    CHECK(says(ended.out, "740.800000 MHz"));
    CHECK(says(ended.out, "QPSK 8/9"));
    CHECK_FALSE(says(ended.out, "742.400000 MHz"));
    const auto refused = [](const std::vector<std::string>& more) {
        std::vector<std::string> call{"dvbs2", "scan", "rtl_tcp://127.0.0.1:9", "--live"};
        call.insert(call.end(), more.begin(), more.end());
        const Ended none = run_program(call);
        CHECK(none.status == 2);
        return none.err;
    };
    CHECK(says(refused({"743M:740M", "--rate", "2M"}), "from where to where"));
    CHECK(says(refused({"740M"}), "from where to where"));
    CHECK(says(refused({"740M:743M"}), "--rate"));
    CHECK(says(refused({"1M:2G", "--rate", "100k"}), "steps"));
    CHECK(run_program({"dvbs2", "scan", recording_of_a_dongle().meta, "--live", "1M:2M"}).status == 2);
}

}  // namespace tidemill::cli
