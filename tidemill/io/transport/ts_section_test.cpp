#include "tidemill/io/transport/ts_section.hpp"

#include <algorithm>
#include <vector>

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include "tidemill/io/transport/crc32.hpp"

namespace tidemill::io {
namespace {

using Bytes = std::vector<std::uint8_t>;

Bytes section_of(std::uint8_t table, std::size_t body) {
    const std::size_t length = 5 + body + 4;
    Bytes section{table, static_cast<std::uint8_t>(0xb0 | length >> 8), static_cast<std::uint8_t>(length)};
    for (std::size_t i = 0; i < 5 + body; ++i) section.push_back(static_cast<std::uint8_t>(i + table));
    const std::uint32_t crc = crc32_mpeg(section);
    for (int shift = 24; shift >= 0; shift -= 8) section.push_back(static_cast<std::uint8_t>(crc >> shift));
    return section;
}

// Sections one behind the other in packets of a PID, each packet full: as multiplexers send tables.
std::vector<Bytes> packed(const std::vector<Bytes>& sections) {
    Bytes stream;
    std::vector<std::size_t> starts;
    for (const Bytes& section : sections) {
        starts.push_back(stream.size());
        stream.insert(stream.end(), section.begin(), section.end());
    }
    std::vector<Bytes> packets;
    for (std::size_t at = 0, count = 0; at < stream.size(); ++count) {
        Bytes packet{0x47, 0x01, 0x00, static_cast<std::uint8_t>(0x10 | (count & 15))};
        const auto start = std::ranges::lower_bound(starts, at);
        const bool begins = start != starts.end() && *start < at + 183;
        if (begins) {
            packet[1] |= 0x40;
            packet.push_back(static_cast<std::uint8_t>(*start - at));
        }
        while (packet.size() < 188) packet.push_back(at < stream.size() ? stream[at++] : 0xff);
        packets.push_back(packet);
    }
    return packets;
}

std::vector<Bytes> collected(const std::vector<Bytes>& packets, std::size_t* lost = nullptr) {
    SectionCollector collector;
    std::vector<Bytes> sections;
    for (const Bytes& packet : packets) {
        const std::size_t cut = collector.add(packet);
        if (lost) *lost += cut;
        while (const auto section = collector.next()) sections.emplace_back(section->begin(), section->end());
    }
    return sections;
}

}  // namespace

TEST_CASE("sections: one that ends before a packet's pointer is whole") {
    const std::vector<Bytes> sections{section_of(0x42, 300), section_of(0x46, 20), section_of(0x42, 500)};
    const std::vector<Bytes> packets = packed(sections);
    REQUIRE((packets[1][1] & 0x40) != 0);  // the first one ends in it, and others begin
    CHECK(packets[1][4] > 0);
    CHECK(collected(packets) == sections);
}

TEST_CASE("sections: whatever their lengths, all come out of full packets") {
    rc::check([] {
        std::vector<Bytes> sections;
        const auto bodies =
            *rc::gen::container<std::vector<std::size_t>>(20, rc::gen::inRange<std::size_t>(0, 1000));
        for (const std::size_t body : bodies)
            sections.push_back(section_of(static_cast<std::uint8_t>(body % 200), body));
        RC_ASSERT(collected(packed(sections)) == sections);
    });
}

TEST_CASE("sections: a packet sent twice counts once, and a missing one costs the sections in it") {
    const std::vector<Bytes> sections{section_of(0x42, 300), section_of(0x46, 300), section_of(0x4e, 300)};
    std::vector<Bytes> packets = packed(sections);
    packets.insert(packets.begin() + 1, packets[0]);
    CHECK(collected(packets) == sections);
    packets.erase(packets.begin() + 2);  // the end of the first one, the beginning of the second
    std::size_t lost = 0;
    CHECK(collected(packets, &lost) == std::vector<Bytes>{sections[2]});
    CHECK(lost == 1);
}

}  // namespace tidemill::io
