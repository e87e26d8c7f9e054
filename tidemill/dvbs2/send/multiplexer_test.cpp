#include "tidemill/dvbs2/send/multiplexer.hpp"

#include <algorithm>
#include <stdexcept>
#include <vector>

#include <doctest/doctest.h>

#include "tidemill/dvbs2/dvbs2_error.hpp"
#include "tidemill/dvbs2/standard/pl_header.hpp"

namespace tidemill::dvbs2 {
namespace {

using Bytes = std::vector<std::uint8_t>;
using Symbols = std::vector<dsp::Iq>;

constexpr Pls kRobust{1, FrameSize::short_, true};
constexpr Pls kQuick{28, FrameSize::normal, false};
constexpr Pls kDummy{};

Bytes packets(std::size_t count) {
    Bytes bytes(count * io::kTsPacketBytes, 0x11);
    for (std::size_t at = 0; at < bytes.size(); at += io::kTsPacketBytes) bytes[at] = io::kTsSyncByte;
    return bytes;
}

// The PLS codes of frames that stand one behind the other, each of the length that its header gives.
std::vector<int> codes_of(const Symbols& symbols) {
    std::vector<int> codes;
    for (std::size_t at = 0; at < symbols.size();) {
        int code = 0;
        const auto found = std::span(symbols).subspan(at, kHeaderSymbols);
        while (code < 128 && !std::ranges::equal(found, header_symbols(code))) ++code;
        REQUIRE(code < 128);
        codes.push_back(code);
        at += static_cast<std::size_t>(layout_of(Pls::from_code(code)).symbols);
    }
    return codes;
}

}  // namespace

TEST_CASE("multiplexer: frames follow the plan, again from its first after its last") {
    Multiplexer multiplexer({.plan = {{kRobust}, {kDummy}, {kQuick}}});
    multiplexer.feed(0, packets(200));
    Symbols symbols;
    for (int i = 0; i < 7; ++i) CHECK(multiplexer.send(symbols));
    const int robust = kRobust.code();
    const int quick = kQuick.code();
    const int dummy = kDummy.code();
    CHECK(codes_of(symbols) == std::vector{robust, dummy, quick, robust, dummy, quick, robust});
    CHECK(multiplexer.counts().frames == 5);
    CHECK(multiplexer.counts().dummy_frames == 2);
}

TEST_CASE("multiplexer: streams take turns, unless a frame names its own") {
    Multiplexer turns({.plan = {{kRobust}, {kDummy}}, .streams = {{.number = 3}, {.number = 9}}});
    std::vector<std::optional<std::size_t>> order;
    for (int i = 0; i < 5; ++i) {
        order.push_back(turns.next_stream());
        turns.skip();
    }
    CHECK(order == std::vector<std::optional<std::size_t>>{0, std::nullopt, 1, std::nullopt, 0});
    Multiplexer named({.plan = {{kRobust, 1}, {kQuick}}, .streams = {{.number = 3}, {.number = 9}}});
    CHECK(named.next_stream() == 1);
    named.skip();
    CHECK(named.next_stream() == 0);
}

TEST_CASE(
    "multiplexer: where data are missing, it tells how many, and null packets, padding or a dummy fill") {
    Multiplexer multiplexer({.plan = {{kRobust}}});
    const std::size_t data_bytes = multiplexer.modulator(kRobust).bbframe_bytes() - kBbHeaderBytes;
    Symbols symbols;
    CHECK(multiplexer.missing_bytes() == data_bytes);
    CHECK_FALSE(multiplexer.send(symbols));
    CHECK_FALSE(multiplexer.send_padded(symbols));
    CHECK(symbols.empty());
    multiplexer.send_dummy(symbols);
    multiplexer.feed(0, packets(1));
    CHECK(multiplexer.missing_bytes() == data_bytes - io::kTsPacketBytes);
    multiplexer.send_with_null_packets(symbols);
    CHECK(multiplexer.counts().null_packets == (data_bytes + 187) / 188 - 1);
    CHECK(multiplexer.send_padded(symbols));
    CHECK(codes_of(symbols) == std::vector{kDummy.code(), kRobust.code(), kRobust.code()});
}

TEST_CASE("multiplexer: what cannot be sent is refused") {
    const auto refused = [](const MultiplexerConfig& config) {
        CHECK_THROWS_AS(Multiplexer{config}, Dvbs2Error);
    };
    refused({.plan = {}});
    refused({.plan = {{kDummy}}});
    refused({.plan = {{kRobust}}, .streams = {}});
    refused({.plan = {{kRobust}}, .streams = {{.number = 1}, {.number = 1}}});
    refused({.plan = {{kRobust, 1}}});
    refused({.plan = {{kRobust, 1}}, .streams = {{.number = 3}, {.number = 9}}});
    refused({.plan = {{{11, FrameSize::short_, false}}}});
    refused({.plan = {{kRobust}}, .rolloff = 0.3});
    refused(
        {.plan = {{kRobust}}, .streams = {{.type = StreamType::generic_packetised, .packet_bytes = 9000}}});
    const auto refused_stream = [&](const InputStream& stream) {
        refused({.plan = {{kRobust}}, .streams = {stream}});
    };
    refused_stream({.issy_bytes = 1});
    refused_stream({.type = StreamType::generic_packetised, .packet_bytes = 40, .issy_bytes = 3});
    refused_stream({.type = StreamType::generic_continuous, .packet_bytes = 0, .issy_bytes = 2});
    refused_stream({.type = StreamType::generic_packetised, .delete_null_packets = true});
    refused_stream({.type = StreamType::generic_packetised, .packet_bytes = 8190, .issy_bytes = 2});
    refused_stream({.packet_bytes = 100});
    Multiplexer multiplexer({.plan = {{kRobust}}});
    CHECK_THROWS_AS(multiplexer.feed(0, Bytes(188, 0x11)), Dvbs2Error);
}

}  // namespace tidemill::dvbs2
