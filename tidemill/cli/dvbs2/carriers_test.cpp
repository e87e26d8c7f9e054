// Several carriers of one recording, received together.
#include <cmath>
#include <fstream>
#include <map>
#include <numbers>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tidemill/apps/reception/rx_options.hpp"
#include "tidemill/dvbs2/receiver/testing/wide_band.hpp"
#include "tidemill/testing/loopback_server.hpp"
#include "tidemill/testing/program.hpp"
#include "tidemill/testing/scratch_folder.hpp"

namespace tidemill::cli {
namespace {

using namespace internal;
using Json = nlohmann::json;

/// Two carriers of DVB-S2 and between them one of another kind, in 2 MS/s of 16 bits.
struct BandRecording {
    ScratchFolder folder;
    std::string samples = folder / "band.ci16";

    BandRecording() {
        const std::vector<dvbs2::internal::BandCarrier> carriers{
            {.symbol_rate_hz = 333e3, .offset_hz = -500e3},
            {.symbol_rate_hz = 200e3, .offset_hz = 50e3, .framed = false},
            {.symbol_rate_hz = 250e3, .offset_hz = 600e3, .level_db = 3}};
        const auto band =
            dvbs2::internal::make_band({.sample_rate_hz = 2e6, .seconds = 1.2, .esn0_db = 11}, carriers);
        const std::vector<std::byte> bytes = dvbs2::internal::as_ci16(band.samples);
        std::ofstream(samples, std::ios::binary)
            .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    }
};

const BandRecording& band_recording() {
    static const BandRecording recording;
    return recording;
}

Ended receive_band(const std::vector<std::string>& options,
                   const std::string& place = band_recording().samples) {
    std::vector<std::string> call{"dvbs2", "rx", place, "--rate", "2M"};
    call.insert(call.end(), options.begin(), options.end());
    return run_program(call);
}

// The reception of a carrier by a receiver of its own: received once, for any caller.
const std::string& alone(const std::string& offset, const std::string& rate) {
    static std::map<std::pair<std::string, std::string>, std::string> received;
    const auto known = received.find({offset, rate});
    if (known != received.end()) return known->second;
    const ScratchFolder folder;
    const Ended ended = receive_band(
        {"--offset", offset, "--symbol-rate", rate, "--executor", "sequence", "-o", folder / "one.ts"});
    REQUIRE_MESSAGE(ended.status == 0, ended.err);
    return received[{offset, rate}] = ScratchFolder::content_of(folder / "one.ts");
}

}  // namespace

TEST_CASE("rx --carrier all: each carrier's file is what its own reception gives, by every executor") {
    const std::string &first = alone("-500k", "333k"), &third = alone("600k", "250k");
    CHECK(first.size() > 188 * 300);
    for (const char* executor : {"sequence", "pipeline", "dynamic"}) {
        CAPTURE(executor);
        const ScratchFolder folder;
        const Ended ended =
            receive_band({"--carrier", "all", "-o", folder / "video.ts", "--executor", executor, "--json"});
        REQUIRE_MESSAGE(ended.status == 0, ended.err);
        CHECK(ScratchFolder::content_of(folder / "video.c1.ts") == first);
        CHECK(ScratchFolder::content_of(folder / "video.c3.ts") == third);
        const Json json = Json::parse(ended.out);
        REQUIRE(json["carriers"].size() == 2);
        CHECK(json["carriers"][0]["carrier"] == 1);
        CHECK(json["carriers"][1]["carrier"] == 3);
        CHECK(json["carriers"][1]["ts_packets"] == third.size() / 188);
        CHECK(json["together"]["ts_packets"] == (first.size() + third.size()) / 188);
        CHECK(json["together"]["executor"] == executor);
        CHECK(json["run"].is_object());
    }
}

TEST_CASE("rx --carrier all: carriers that begin late are received as one of them alone is") {
    const ScratchFolder folder;
    std::minstd_rand random(5);
    std::string samples(2 * 8'000'000, '\0');  // 2 s of noise
    for (std::size_t n = 0; n < samples.size(); n += 2) samples[n] = static_cast<char>(random() % 64);
    samples += ScratchFolder::content_of(band_recording().samples);
    std::ofstream(folder / "late.ci16", std::ios::binary) << samples;
    const Ended ended = receive_band({"--carrier", "all", "-o", folder / "video.ts"}, folder / "late.ci16");
    REQUIRE_MESSAGE(ended.status == 0, ended.err);
    CHECK_FALSE(says(ended.err, "it was found when nothing was left"));
    const std::string first = ScratchFolder::content_of(folder / "video.c1.ts");
    CHECK(first.size() + 30 * 188 > alone("-500k", "333k").size());
}

TEST_CASE("rx --carrier all: from a connection come the packets that the file gives") {
    const ScratchFolder folder;
    const std::uint16_t port = LoopbackServer().port();
    std::thread sender([&] {
        LoopbackPeer(LoopbackPeer::connect(port)).send(ScratchFolder::content_of(band_recording().samples));
    });
    const Ended ended = receive_band(
        {"--format", "ci16", "--carrier", "all", "-o", folder / "video.ts", "--status", folder / "status"},
        fmt::format("tcp-listen://127.0.0.1:{}", port));
    sender.join();
    REQUIRE_MESSAGE(ended.status == 0, ended.err);
    CHECK(ScratchFolder::content_of(folder / "video.c3.ts") == alone("600k", "250k"));
    CHECK(says(ended.out, "carrier 3   00:0"));
    CHECK(says(ended.out, "bad frames 0   continuity errors 0"));
    const std::string status = ScratchFolder::content_of(folder / "status");
    CHECK(says(status, "\"carrier\":1"));
    CHECK(says(status, "\"carrier\":3"));
}

TEST_CASE("rx --carrier all: --report shows each carrier and the band") {
    const ScratchFolder folder;
    const Ended ended =
        receive_band({"--carrier", "all", "-o", folder / "video.ts", "--report", folder / "run.html"});
    REQUIRE_MESSAGE(ended.status == 0, ended.err);
    CHECK(says(ended.err, "carrier 3   00:0"));
    const std::string page = ScratchFolder::content_of(folder / "run.html");
    CHECK(says(page, "\"runs\":[{"));
    CHECK(says(page, "\"number\":1,"));
    CHECK(says(page, "\"number\":3,"));
    CHECK(says(page, "\"rate_hz\":2000000"));
}

TEST_CASE("rx --carrier all: a radio that gives nothing more ends all, and what came is reported") {
    const ScratchFolder folder;
    const std::uint16_t port = LoopbackServer().port();
    std::thread sender([&] {
        const LoopbackPeer radio(LoopbackPeer::connect(port));
        for (int times = 0; times < 3; ++times)  // carriers are looked for in three seconds
            radio.send(ScratchFolder::content_of(band_recording().samples));
        radio.receive(1);  // until the receiver has gone
    });
    const Ended ended = receive_band({"--format", "ci16", "--carrier", "all", "-o", folder / "video.ts",
                                      "--exit-on", "no-samples:1s", "--json"},
                                     fmt::format("tcp-listen://127.0.0.1:{}", port));
    sender.join();
    CHECK_MESSAGE(ended.status == 4, ended.err);
    CHECK(says(ended.err, "--exit-on no-samples:1s ended the reception"));
    const Json json = Json::parse(ended.out);
    for (const Json& carrier : json["carriers"]) CHECK(carrier["ts_packets"] > 100);
}

TEST_CASE("rx --carrier all: who gives too little to find carriers in is ended by the policy") {
    const ScratchFolder folder;
    const std::uint16_t port = LoopbackServer().port();
    std::thread sender([&] {
        const LoopbackPeer radio(LoopbackPeer::connect(port));
        radio.send(ScratchFolder::content_of(band_recording().samples).substr(0, 1 << 20));
        radio.receive(1);  // until the receiver has gone
    });
    const Ended ended = receive_band(
        {"--format", "ci16", "--carrier", "all", "-o", folder / "video.ts", "--exit-on", "no-samples:500ms"},
        fmt::format("tcp-listen://127.0.0.1:{}", port));
    sender.join();
    CHECK_MESSAGE(ended.status == 4, ended.err);
    CHECK(says(ended.err, "--exit-on no-samples:500ms ended the reception"));
}

TEST_CASE("rx --carrier all: what --doppler predicts is taken out of all carriers") {
    constexpr double kHzPerSecond = 400;
    const std::string still = ScratchFolder::content_of(band_recording().samples);
    std::vector<dsp::Iq> samples(still.size() / 4);
    dsp::convert_samples(dsp::SampleFormat::ci16, std::as_bytes(std::span(still)), samples);
    for (std::size_t n = 0; n < samples.size(); ++n) {
        const double time_s = static_cast<double>(n) / 2e6;
        const double cycles = kHzPerSecond * time_s * time_s / 2;
        samples[n] *= dsp::Iq(std::polar(1.0, 2 * std::numbers::pi * (cycles - std::floor(cycles))));
    }
    const auto bytes = dvbs2::internal::as_ci16(samples);
    const ScratchFolder folder;
    const std::string moving =
        folder.put("moving.ci16", std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
    const std::string track = folder.put("track.txt", fmt::format("0 0\n10 {}\n", 10 * kHzPerSecond));
    const auto distances_hz = [&](const std::vector<std::string>& more) {
        std::vector<std::string> options{"--carrier", "all", "-o", folder / "video.ts", "--json"};
        options.insert(options.end(), more.begin(), more.end());
        const Ended ended = receive_band(options, moving);
        REQUIRE_MESSAGE(ended.status == 0, ended.err);
        const Json json = Json::parse(ended.out);
        REQUIRE(json["carriers"].size() == 2);
        return std::pair(std::abs(json["carriers"][0]["frequency_offset_hz"].get<double>() + 500e3),
                         std::abs(json["carriers"][1]["frequency_offset_hz"].get<double>() - 600e3));
    };
    const auto [first, third] = distances_hz({"--doppler", track});
    CHECK(first < 100);
    CHECK(third < 100);
    CHECK(ScratchFolder::content_of(folder / "video.c1.ts").size() > 188 * 300);
    CHECK(distances_hz({}).first > 300);
}

TEST_CASE("rx --carrier N: a carrier by its number in a scan; what is no carrier of DVB-S2 is refused") {
    const ScratchFolder folder;
    const Ended third = receive_band({"--carrier", "3", "-o", folder / "video.ts", "--executor", "sequence"});
    REQUIRE_MESSAGE(third.status == 0, third.err);
    CHECK(ScratchFolder::content_of(folder / "video.ts") == alone("600k", "250k"));
    const Ended second = receive_band({"--carrier", "2", "-o", folder / "no.ts"});
    CHECK(second.status == 1);
    CHECK(says(second.err, "--carrier 2 is not of DVB-S2"));
    const Ended ninth = receive_band({"--carrier", "9", "-o", folder / "no.ts"});
    CHECK(ninth.status == 1);
    CHECK(says(ninth.err, "--carrier 9: 3 carriers are there"));
}

TEST_CASE(
    "rx --symbol-rate auto: of several carriers each is listed, in one line, by the options that name it") {
    const ScratchFolder folder;
    const Ended ended = receive_band({"--symbol-rate", "auto", "-o", folder / "no.ts"});
    CHECK(ended.status == 1);
    CHECK(says(ended.err, "2 carriers are there (tidemill dvbs2 scan shows more); say which: --offset "));
    CHECK(says(ended.err, ", or --offset "));
    CHECK_FALSE(says(ended.err, "\\x0a"));
}

TEST_CASE("rx --carrier all: what is for one carrier, or has no place for several, is refused") {
    const auto refused = [](const std::vector<std::string>& more) {
        std::vector<std::string> options{"--carrier", "all"};
        options.insert(options.end(), more.begin(), more.end());
        const Ended ended = receive_band(options);
        CHECK(ended.status == 2);
        return ended.err;
    };
    CHECK(says(refused({"-o", "-"}), "name one with --output"));
    CHECK(says(refused({"--offset", "1k"}), "--offset"));
    CHECK(says(refused({"--checkpoint", "x.state"}), "--checkpoint is for one carrier"));
    CHECK(says(refused({"--gold", "auto"}), "auto is for one carrier"));
    CHECK(receive_band({"--carrier", "0"}).status == 2);
    CHECK(receive_band({"--carrier", "some"}).status == 2);
    CHECK(place_of_carrier("udp://127.0.0.1:5000", 2) == "udp://127.0.0.1:5001");
    CHECK(place_of_carrier("udp://[::1]:5000", 1) == "udp://[::1]:5000");
    CHECK(place_of_carrier("a/video.ts", 12) == "a/video.c12.ts");
    CHECK_THROWS(place_of_carrier("udp://127.0.0.1:65535", 2));
}

}  // namespace tidemill::cli
