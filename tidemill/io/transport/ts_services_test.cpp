#include "tidemill/io/transport/ts_services.hpp"

#include <algorithm>
#include <vector>

#include <doctest/doctest.h>

#include "tidemill/io/testing/made_services.hpp"

namespace tidemill::io {
namespace {

using Bytes = std::vector<std::uint8_t>;

Bytes packet_of(std::uint16_t pid, Bytes section = {}) {
    Bytes packet(kTsPacketBytes, 0xff);
    packet[0] = kTsSyncByte;
    packet[1] = static_cast<std::uint8_t>((section.empty() ? 0 : 0x40) | pid >> 8);
    packet[2] = static_cast<std::uint8_t>(pid);
    packet[3] = 0x10;
    if (section.empty()) return packet;
    const std::size_t length = section.size() - 3 + 4;
    section[1] = static_cast<std::uint8_t>(0xb0 | length >> 8);
    section[2] = static_cast<std::uint8_t>(length);
    internal::append_crc32(section);
    packet[4] = 0;  // the pointer
    std::ranges::copy(section, packet.begin() + 5);
    return packet;
}

// One programme, number 7, whose map lies on PID 0x100 and names a video on 0x101 and a sound on 0x102.
Bytes association() {
    return packet_of(0, {0x00, 0, 0, 0, 1, 0xc1, 0, 0, 0, 7, 0xe1, 0x00});
}

Bytes map_of(std::uint8_t number) {
    return packet_of(0x100, {0x02, 0,    0,    0,    number, 0xc1, 0,    0,    0xe1, 0x01, 0xf0, 0x00,  //
                             0x1b, 0xe1, 0x01, 0xf0, 0x00,   0x0f, 0xe1, 0x02, 0xf0, 0x00});
}

}  // namespace

TEST_CASE("ts services: each has the packets of the PIDs that its map names, and its name") {
    TsServices services;
    CHECK(services.services().empty());
    services.look(association());
    services.look(map_of(7));
    for (int i = 0; i < 10; ++i) services.look(packet_of(0x101));
    for (int i = 0; i < 5; ++i) services.look(packet_of(0x102));
    services.look(packet_of(0x103));
    services.look(internal::made_services({{7, "<img src=x onerror=alert(1)>"}}));
    const auto found = services.services();
    REQUIRE(found.size() == 1);
    CHECK(found[0].number == 7);
    CHECK(found[0].name == "<img src=x onerror=alert(1)>");
    CHECK(found[0].packets == 16);  // with the map itself
}

TEST_CASE("ts services: another programme's map, a damaged packet and a name alone add no packets") {
    TsServices services;
    services.look(association());
    services.look(map_of(8));
    Bytes damaged = packet_of(0x101);
    damaged[1] |= 0x80;
    services.look(damaged);
    services.look(internal::made_services({{9, "no programme"}}));
    const auto found = services.services();
    REQUIRE(found.size() == 2);
    CHECK(found[0].packets == 0);
    CHECK(found[1].name == "no programme");
}

}  // namespace tidemill::io
