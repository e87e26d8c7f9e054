// Samples over TCP, plain and from servers of rtl_tcp's protocol.
#include <array>
#include <cstring>
#include <string>
#include <thread>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tidemill/io/io_error.hpp"
#include "tidemill/io/live/input_stream.hpp"
#include "tidemill/io/live/live_kinds.hpp"
#include "tidemill/testing/loopback_server.hpp"

namespace tidemill::io {
namespace {

std::string text_of(std::span<const std::byte> bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::string url(const char* scheme, std::uint16_t port) {
    return fmt::format("{}://127.0.0.1:{}", scheme, port);
}

// A port at which nobody listens.
std::uint16_t free_port() {
    return LoopbackServer().port();
}

const std::string kGreeting("RTL0\0\0\0\5\0\0\0\35", 12);

}  // namespace

TEST_CASE("network stream: a connection is read to its end") {
    const LoopbackServer server;
    CHECK(InputStream::is_stream(url("tcp", server.port())));
    InputStream stream(url("tcp", server.port()));
    LoopbackPeer peer(server.accept());
    std::array<std::byte, 4> bytes{};
    REQUIRE(peer.send("abcdef"));
    CHECK(stream.read(bytes) == 4);
    CHECK(text_of(bytes) == "abcd");
    peer.close();
    CHECK(stream.read(bytes) == 2);
    CHECK(stream.read_some(bytes) == 0);
}

TEST_CASE("network stream: who listens takes the first connection, when it comes") {
    const std::uint16_t port = free_port();
    InputStream stream(url("tcp-listen", port));
    std::thread sender([&] { LoopbackPeer(LoopbackPeer::connect(port)).send("abcd"); });
    std::array<std::byte, 8> bytes{};
    CHECK(stream.read(bytes) == 4);
    sender.join();
}

TEST_CASE("network stream: waiting for a connection can be ended") {
    InputStream stream(url("tcp-listen", free_port()));
    std::array<std::byte, 4> bytes{};
    std::thread reader([&] { CHECK(stream.read(bytes) == 0); });
    stream.end();
    reader.join();
}

TEST_CASE("network stream: nobody there is an error that names the place") {
    const std::string nobody = url("tcp", free_port());
    std::array<std::byte, 4> bytes{};
    InputStream stream(nobody);
    CHECK_THROWS_WITH_AS(stream.read(bytes),
                         fmt::format("cannot connect to '{}': Connection refused", nobody).c_str(), IoError);
}

TEST_CASE("network stream: a port that is taken, and names that say no place, are refused") {
    const LoopbackServer taken;
    CHECK_THROWS_WITH_AS(InputStream(url("tcp-listen", taken.port())), doctest::Contains("already in use"),
                         IoError);
    for (const char* bad : {"tcp://", "tcp://:1", "tcp://host", "tcp://host:", "tcp://host:0",
                            "tcp://host:65536", "tcp://host:x", "tcp-listen://1234", "rtl_tcp://"}) {
        CAPTURE(bad);
        CHECK_THROWS_WITH_AS(InputStream(std::filesystem::path(bad)), doctest::Contains("host:port"),
                             IoError);
    }
}

TEST_CASE("rtl_tcp: a server is told the settings in its protocol, then samples come") {
    const LoopbackServer server;
    const auto source = open_rtl_tcp({.place = url("rtl_tcp", server.port()),
                                      .radio = {.frequency_hz = 741.5e6,
                                                .sample_rate_hz = 2.4e6,
                                                .gain_db = 40.2,
                                                .digital_agc = true,
                                                .correction_ppm = -3,
                                                .bias_tee = true}});
    LoopbackPeer peer(server.accept());
    REQUIRE(peer.send(kGreeting + "samples_"));
    REQUIRE(source->begin());
    CHECK(source->format() == dsp::SampleFormat::cu8);
    CHECK(source->sample_rate_hz() == 2.4e6);
    const std::string expected(
        "\x02\x00\x24\x9f\x00"  // 2,400,000
        "\x01\x2c\x32\x64\x60"  // 741,500,000
        "\x05\xff\xff\xff\xfd"
        "\x08\x00\x00\x00\x01"
        "\x03\x00\x00\x00\x01"
        "\x04\x00\x00\x01\x92"  // 402 tenths
        "\x0e\x00\x00\x00\x01",
        35);
    CHECK(peer.receive(expected.size()) == expected);
    std::array<std::byte, 8> bytes{};
    CHECK(source->read(bytes) == 8);
    CHECK(text_of(bytes) == "samples_");
    const auto controls = source->controls();
    REQUIRE(controls.size() == 1);
    CHECK(controls[0].name == "gain_db");
    CHECK(controls[0].value == 40.2);
    CHECK(controls[0].most == 50);
    source->control(0, 12.5);
    REQUIRE(peer.send("more_of_"));
    CHECK(source->read(bytes) == 8);
    CHECK(peer.receive(10) == std::string("\x03\x00\x00\x00\x01\x04\x00\x00\x00\x7d", 10));
}

TEST_CASE("rtl_tcp: another server, one that hangs up and settings beyond the protocol") {
    const auto set_up = [](std::string_view greeting, const RadioSettings& settings) {
        const LoopbackServer server;
        const auto source = open_rtl_tcp({.place = url("rtl_tcp", server.port()), .radio = settings});
        LoopbackPeer peer(server.accept());
        peer.send(greeting);
        peer.close();
        return source->begin();
    };
    CHECK_FALSE(set_up("", {.frequency_hz = 1e6, .sample_rate_hz = 1e6}));
    CHECK_THROWS_WITH_AS(set_up("HTTP/1.1 400 Bad", {.frequency_hz = 1e6, .sample_rate_hz = 1e6}),
                         doctest::Contains("no rtl_tcp"), IoError);
    CHECK_THROWS_WITH_AS(set_up(kGreeting, {.frequency_hz = 1e10, .sample_rate_hz = 1e6}),
                         doctest::Contains("2^32"), IoError);
}

}  // namespace tidemill::io
