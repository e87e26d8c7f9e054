#include "tidemill/io/transport/ts_monitor.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <random>

#include <doctest/doctest.h>

#include "tidemill/io/transport/ts_pacer.hpp"

namespace tidemill::io {
namespace {

using Packet = std::array<std::uint8_t, kTsPacketBytes>;

Packet packet_of(std::uint16_t pid, int count, bool payload = true) {
    Packet packet;
    packet.fill(0xff);
    packet[0] = kTsSyncByte;
    packet[1] = static_cast<std::uint8_t>(pid >> 8);
    packet[2] = static_cast<std::uint8_t>(pid);
    packet[3] = static_cast<std::uint8_t>((payload ? 0x10 : 0x20) | (count & 15));
    if (!payload) {
        packet[4] = 183;
        packet[5] = 0;
    }
    return packet;
}

Packet with_pcr(std::uint16_t pid, int count, std::uint64_t pcr) {
    Packet packet = packet_of(pid, count);
    packet[3] |= 0x20;
    packet[4] = 7;
    packet[5] = 0x10;
    const std::uint64_t field = (pcr / 300) << 15 | 0x3fULL << 9 | pcr % 300;
    for (std::size_t i = 0; i < 6; ++i) packet[6 + i] = static_cast<std::uint8_t>(field >> (40 - 8 * i));
    return packet;
}

// A programme association table as ISO/IEC 13818-1, 2.4.4.3 lays it out: programmes 1 and 0x2345.
Packet association_table() {
    Packet packet = packet_of(0, 0);
    packet[1] |= 0x40;
    packet[4] = 0;
    constexpr std::array<std::uint8_t, 20> kTable = {0x00, 0xb0, 0x11, 0x00, 0x01, 0xc1, 0x00,
                                                     0x00, 0x00, 0x01, 0xe1, 0x00, 0x23, 0x45,
                                                     0xe2, 0x00, 0xc0, 0x37, 0x37, 0x63};
    std::ranges::copy(kTable, packet.begin() + 5);
    return packet;
}

}  // namespace

TEST_CASE("ts monitor: behind packets of an earlier run continuity goes on, and they are not counted") {
    for (const int next : {2, 5}) {
        TsMonitor monitor;
        monitor.go_on_behind(packet_of(256, 0));
        monitor.go_on_behind(packet_of(256, 1));
        CHECK(monitor.packets() == 0);
        monitor.look(packet_of(256, next));
        CHECK(monitor.packets() == 1);
        CHECK(monitor.continuity_errors() == (next == 2 ? 0 : 1));
    }
}

TEST_CASE("ts monitor: packets that go on, repeat once or announce a break are no continuity errors") {
    TsMonitor monitor;
    for (int count = 0; count < 40; ++count) monitor.look(packet_of(256, count));
    monitor.look(packet_of(256, 39));         // sent twice
    monitor.look(packet_of(256, 39, false));  // no payload: the count stands
    monitor.look(packet_of(256, 40));
    Packet jump = packet_of(256, 7);
    jump[3] |= 0x20;
    jump[4] = 1;
    jump[5] = 0x80;
    monitor.look(jump);
    monitor.look(packet_of(256, 8));
    for (int i = 0; i < 5; ++i) monitor.look(packet_of(0x1fff, 3));
    CHECK(monitor.continuity_errors() == 0);
    CHECK(monitor.null_packets() == 5);
    CHECK(monitor.packets() == 50);
}

TEST_CASE("ts monitor: missing packets are continuity errors of their PID") {
    TsMonitor monitor;
    monitor.look(packet_of(256, 0));
    monitor.look(packet_of(257, 9));
    monitor.look(packet_of(256, 2));  // one is missing
    monitor.look(packet_of(257, 10));
    monitor.look(packet_of(257, 10));
    monitor.look(packet_of(257, 10));  // twice too often
    CHECK(monitor.continuity_errors() == 2);
    Packet other = packet_of(256, 2);
    other[kTsPacketBytes - 1] ^= 1;  // the same count, but not the same packet: 15 are missing
    monitor.look(other);
    CHECK(monitor.continuity_errors() == 3);
    Packet damaged = packet_of(256, 9);
    damaged[1] |= 0x80;
    monitor.look(damaged);
    CHECK(monitor.marked_packets() == 1);
    CHECK(monitor.continuity_errors() == 3);
}

TEST_CASE("ts monitor: the programmes are those of a table whose CRC is right") {
    TsMonitor monitor;
    CHECK(monitor.programmes().empty());
    Packet damaged = association_table();
    damaged[5 + 9] ^= 1;
    monitor.look(damaged);
    CHECK(monitor.programmes().empty());
    monitor.look(association_table());
    CHECK(monitor.programmes() == std::vector{1, 0x2345});
}

TEST_CASE("ts monitor and pacer: random packets never crash them") {
    std::mt19937_64 random(3);
    TsMonitor monitor;
    TsPacer pacer;
    std::vector<TimedDatagram> out;
    for (int i = 0; i < 20000; ++i) {
        Packet packet;
        std::ranges::generate(packet, [&] { return static_cast<std::uint8_t>(random()); });
        if (random() % 2) {  // the table's PID, where there is most to read
            packet[1] &= 0x60;
            packet[2] = 0;
        }
        monitor.look(packet);
        pacer.push(packet, i * 1e-3, 1e-3, out);
    }
    pacer.finish(out);
    CHECK(monitor.packets() == 20000);
    double last_s = 0;
    std::size_t bytes = 0;
    for (const TimedDatagram& datagram : out) {
        CHECK(datagram.due_s >= last_s);
        last_s = datagram.due_s;
        bytes += datagram.bytes.size();
    }
    CHECK(bytes == 20000 * kTsPacketBytes);
}

TEST_CASE("ts pacer: datagrams hold seven packets across frames, each due when its first packet came") {
    TsPacer pacer;
    std::vector<TimedDatagram> out;
    for (int frame = 0; frame < 100; ++frame) {
        std::vector<std::uint8_t> packets;
        for (int i = 0; i < 10; ++i) {  // whatever they say of their own clock
            const Packet packet = with_pcr(256, 0, static_cast<std::uint64_t>(frame % 7) * 27'000'000);
            packets.insert(packets.end(), packet.begin(), packet.end());
        }
        pacer.push(packets, 5 + 0.02 * frame, 0.02, out);
    }
    pacer.finish(out);
    REQUIRE(out.size() == 143);
    for (std::size_t i = 0; i < out.size(); ++i) {
        CAPTURE(i);
        CHECK(out[i].due_s == doctest::Approx(5 + 0.014 * static_cast<double>(i)));
        CHECK(out[i].bytes.size() == (i < 142 ? kDatagramBytes : 6 * kTsPacketBytes));
    }
}

TEST_CASE("ts pacer: no packet waits for others for long, nor across a jump of the signal's time") {
    TsPacer pacer;
    std::vector<TimedDatagram> out;
    std::vector<double> from_s;
    for (int i = 0; i < 12; ++i) from_s.push_back(0.009 * i);  // three within 20 ms
    for (const double at_s : {9.0, 9.001, 3.0, 3.001}) from_s.push_back(at_s);
    for (const double at_s : from_s) pacer.push(packet_of(257, 0), at_s, 0.009, out);
    pacer.finish(out);
    REQUIRE(out.size() == 6);
    for (std::size_t i = 0; i < 4; ++i) CHECK(out[i].bytes.size() == 3 * kTsPacketBytes);
    CHECK(out[4].due_s == 9);
    CHECK(out[5].due_s == 3);
    CHECK(out[5].bytes.size() == 2 * kTsPacketBytes);
}

TEST_CASE("ts pacer: by rate, every datagram is full and on time") {
    TsPacer pacer(1e6);
    std::vector<TimedDatagram> out;
    for (int i = 0; i < 71; ++i) pacer.push(packet_of(257, i), 0, 0, out);
    pacer.finish(out);
    REQUIRE(out.size() == 11);
    for (std::size_t i = 0; i < 10; ++i) {
        CHECK(out[i].bytes.size() == kDatagramBytes);
        CHECK(out[i].due_s == doctest::Approx(static_cast<double>(i) * 1316 * 8 / 1e6));
    }
    CHECK(out[10].bytes.size() == kTsPacketBytes);
    CHECK_THROWS(TsPacer(0.0));
}

}  // namespace tidemill::io
