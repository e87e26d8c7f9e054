#include "tidemill/dvbs2/streams/gse_receiver.hpp"

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tidemill/dvbs2/streams/testing/made_gse.hpp"

namespace tidemill::dvbs2 {
namespace {

using internal::GseMaker;
using Bytes = std::vector<std::uint8_t>;

constexpr std::uint16_t kIpv4 = 0x0800;

// Output of a receiver, each packet as "protocol label: bytes" in hexadecimal digits.
struct Heard {
    explicit Heard(const GseLimits& limits = {})
        : receiver([this](const GsePdu& pdu) { hear(pdu); }, limits) {}

    void hear(const GsePdu& pdu) {
        pdus.emplace_back(pdu.bytes.begin(), pdu.bytes.end());
        labels.emplace_back(pdu.label.begin(), pdu.label.end());
        protocols.push_back(pdu.protocol);
    }
    void push(const std::vector<Bytes>& packets, std::size_t padding = 0) {
        Bytes field;
        for (const Bytes& packet : packets) field.insert(field.end(), packet.begin(), packet.end());
        field.resize(field.size() + padding);
        receiver.push(field);
    }

    GseReceiver receiver;
    std::vector<Bytes> pdus{};
    std::vector<Bytes> labels{};
    std::vector<std::uint16_t> protocols{};
};

Bytes pdu_of(std::size_t bytes, std::uint8_t value) {
    return Bytes(bytes, value);
}

}  // namespace

TEST_CASE("GSE: whole packets come out with protocol and label, and padding ends a frame") {
    Heard heard;
    heard.push({GseMaker().whole(kIpv4, pdu_of(100, 1)), GseMaker({1, 2, 3}).whole(0x86dd, pdu_of(50, 2)),
                GseMaker({1, 2, 3, 4, 5, 6}).whole(kIpv4, pdu_of(4000, 3))},
               77);
    CHECK(heard.pdus == std::vector<Bytes>{pdu_of(100, 1), pdu_of(50, 2), pdu_of(4000, 3)});
    CHECK(heard.labels == std::vector<Bytes>{{}, {1, 2, 3}, {1, 2, 3, 4, 5, 6}});
    CHECK(heard.protocols == std::vector<std::uint16_t>{kIpv4, 0x86dd, kIpv4});
    CHECK(heard.receiver.counts().packets_cut_off == 0);
}

TEST_CASE("GSE: fragments of several PDUs, mixed and over many frames, are joined and their CRC is checked") {
    Heard heard;
    const auto one = GseMaker({9, 9, 9}).fragments(7, kIpv4, pdu_of(60000, 1), 1000);
    const auto two = GseMaker().fragments(8, kIpv4, pdu_of(61 * 100, 2), 100);
    for (std::size_t i = 0; i < std::max(one.size(), two.size()); ++i) {
        std::vector<Bytes> packets;
        if (i < one.size()) packets.push_back(one[i]);
        if (i < two.size()) packets.push_back(two[i]);
        heard.push(packets);
    }
    REQUIRE(heard.pdus.size() == 2);
    CHECK(heard.pdus[0] == pdu_of(60000, 1));
    CHECK(heard.labels[0] == Bytes{9, 9, 9});
    CHECK(heard.pdus[1] == pdu_of(6100, 2));
    CHECK(heard.receiver.waiting_bytes() == 0);
}

TEST_CASE("GSE: a missing or a damaged fragment costs its PDU, and is counted") {
    Heard heard;
    auto packets = GseMaker().fragments(1, kIpv4, pdu_of(1000, 1), 300);
    heard.push({packets[0], packets[1], packets[3]});
    CHECK(heard.receiver.counts().pdus_bad_length == 1);
    heard.push({packets[1]});
    CHECK(heard.receiver.counts().fragments_without_start == 1);
    packets[2][50] ^= 1;
    heard.push(packets);
    CHECK(heard.receiver.counts().pdus_bad_crc == 1);
    heard.push({packets[0], packets[0]});
    CHECK(heard.receiver.counts().pdus_replaced == 1);
    CHECK(heard.pdus.empty());
}

TEST_CASE("GSE: what waits is bounded in bytes and in frames") {
    Heard heard({.bytes = 3000, .frames = 4});
    for (std::uint8_t number = 0; number < 10; ++number)
        heard.push({GseMaker().fragments(number, kIpv4, pdu_of(2000, number), 900)[0]});
    CHECK(heard.receiver.waiting_bytes() <= 3000);
    CHECK(heard.receiver.counts().pdus_without_room == 7);
    for (int frame = 0; frame < 6; ++frame) heard.push({}, 10);
    CHECK(heard.receiver.counts().pdus_too_old == 3);
    CHECK(heard.receiver.waiting_bytes() == 0);
    heard.push(GseMaker().fragments(0, kIpv4, pdu_of(4000, 1), 900));
    CHECK(heard.pdus.empty());
    CHECK(heard.receiver.waiting_bytes() == 0);
}

TEST_CASE("GSE: a label is used again within a frame, and not in the next one") {
    Heard heard;
    const Bytes again = GseMaker::packet(0xf0, {0x08, 0x00, 5, 5});
    heard.push({GseMaker({1, 2, 3}).whole(kIpv4, pdu_of(10, 1)), again});
    CHECK(heard.labels == std::vector<Bytes>{{1, 2, 3}, {1, 2, 3}});
    heard.push({again});
    CHECK(heard.receiver.counts().labels_missing == 1);
    CHECK(heard.pdus.size() == 2);
}

TEST_CASE("GSE: optional extension headers are skipped, what needs a mandatory one is counted") {
    Heard heard;
    // One of six bytes with its type, then one of two; behind them IPv4.
    const Bytes optional = GseMaker::packet(0xe0, {0x03, 0x11, 1, 2, 3, 4, 0x01, 0x22, 0x08, 0x00, 7});
    heard.push({optional, GseMaker().whole(0x0081, pdu_of(20, 1)), GseMaker().whole(0x0511, pdu_of(3, 1))});
    CHECK(heard.pdus == std::vector<Bytes>{{7}});
    CHECK(heard.protocols == std::vector<std::uint16_t>{kIpv4});
    CHECK(heard.receiver.counts().extensions_unknown == 2);
}

TEST_CASE("GSE: a bridged frame is one of Ethernet, whichever of its two types it has") {
    Heard heard;
    heard.push({GseMaker().whole(0x0001, pdu_of(60, 1)), GseMaker().whole(kEthernetProtocol, pdu_of(70, 2))});
    CHECK(heard.pdus == std::vector<Bytes>{pdu_of(60, 1), pdu_of(70, 2)});
    CHECK(heard.protocols == std::vector<std::uint16_t>{kEthernetProtocol, kEthernetProtocol});
}

TEST_CASE("GSE: a packet that is longer than its frame, or has no room for its header, is counted") {
    Heard heard;
    Bytes cut = GseMaker().whole(kIpv4, pdu_of(100, 1));
    cut.resize(60);
    heard.push({cut});
    heard.push({GseMaker::packet(0xc0, {0x08}), GseMaker::packet(0x80, {1}), GseMaker::packet(0x40, {})});
    CHECK(heard.receiver.counts().packets_cut_off == 4);
    CHECK(heard.pdus.empty());
}

}  // namespace tidemill::dvbs2
