#include "tidemill/io/transport/ule_counter.hpp"

#include <algorithm>
#include <random>

#include <doctest/doctest.h>

#include "tidemill/io/testing/made_services.hpp"
#include "tidemill/io/transport/crc32.hpp"

namespace tidemill::io {
namespace {

using Bytes = std::vector<std::uint8_t>;

Bytes ule_packet(std::uint16_t type, std::size_t bytes) {
    const std::size_t length = bytes + 4;
    Bytes packet{static_cast<std::uint8_t>(0x80 | length >> 8), static_cast<std::uint8_t>(length),
                 static_cast<std::uint8_t>(type >> 8), static_cast<std::uint8_t>(type)};
    for (std::size_t i = 0; i < bytes; ++i) packet.push_back(static_cast<std::uint8_t>(i));
    const std::uint32_t crc = crc32_mpeg(packet);
    for (int shift = 24; shift >= 0; shift -= 8) packet.push_back(static_cast<std::uint8_t>(crc >> shift));
    return packet;
}

// One behind the other, packed, padded at the end.
Bytes carried(const std::vector<Bytes>& ule, std::uint16_t pid) {
    Bytes all;
    std::vector<std::size_t> begins;
    for (const Bytes& one : ule) {
        begins.push_back(all.size());
        all.insert(all.end(), one.begin(), one.end());
    }
    Bytes packets;
    for (std::size_t at = 0, count = 0; at < all.size(); ++count) {
        const auto next = std::ranges::find_if(begins, [&](std::size_t begin) { return begin >= at; });
        const bool starts = next != begins.end() && *next < at + 183;
        Bytes packet{kTsSyncByte, static_cast<std::uint8_t>((starts ? 0x40 : 0) | pid >> 8),
                     static_cast<std::uint8_t>(pid), static_cast<std::uint8_t>(0x10 | (count & 15))};
        if (starts) packet.push_back(static_cast<std::uint8_t>(*next - at));
        while (packet.size() < kTsPacketBytes) packet.push_back(at < all.size() ? all[at++] : 0xff);
        packets.insert(packets.end(), packet.begin(), packet.end());
    }
    return packets;
}

}  // namespace

TEST_CASE("ule counter: packets in one and in several packets of the stream are counted, Ethernet apart") {
    UleCounter counter;
    std::vector<Bytes> ule;
    for (int i = 0; i < 30; ++i)
        ule.push_back(ule_packet(i % 3 == 0 ? 0x0001 : 0x0800, static_cast<std::size_t>(20 + 70 * i)));
    counter.push(carried(ule, 0x123));
    CHECK(counter.counts().packets == 30);
    CHECK(counter.counts().ethernet == 10);
}

TEST_CASE("ule counter: tables, damaged packets and random ones count for nothing") {
    UleCounter counter;
    counter.push(internal::made_services({{1, "CQ-TV"}, {7, std::string(200, 'x')}}));
    Bytes damaged = carried({ule_packet(0x0800, 100)}, 0x123);
    damaged[40] ^= 1;
    counter.push(damaged);
    std::mt19937 random(3);
    for (int i = 0; i < 20000; ++i) {
        Bytes packet(kTsPacketBytes);
        std::ranges::generate(packet, [&] { return static_cast<std::uint8_t>(random()); });
        packet[0] = kTsSyncByte;
        packet[1] &= 0x5f;
        counter.push(packet);
    }
    CHECK(counter.counts().packets == 0);
}

}  // namespace tidemill::io
