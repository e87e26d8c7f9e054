#include "tidemill/io/transport/ts_aligner.hpp"

#include <algorithm>
#include <random>
#include <vector>

#include <doctest/doctest.h>

#include "tidemill/io/transport/ts_datagrams.hpp"

namespace tidemill::io {
namespace {

using Bytes = std::vector<std::uint8_t>;

// Packets that differ, of random content but for their sync bytes.
Bytes made_packets(std::size_t count, unsigned seed = 1) {
    std::mt19937 random(seed);
    Bytes packets(count * kTsPacketBytes);
    std::ranges::generate(packets, [&] { return static_cast<std::uint8_t>(random()); });
    for (std::size_t at = 0; at < packets.size(); at += kTsPacketBytes) packets[at] = kTsSyncByte;
    return packets;
}

Bytes packet(const Bytes& packets, std::size_t which) {
    const auto begin = packets.begin() + static_cast<std::ptrdiff_t>(which * kTsPacketBytes);
    return {begin, begin + kTsPacketBytes};
}

Bytes joined(std::initializer_list<Bytes> parts) {
    Bytes all;
    for (const Bytes& part : parts) all.insert(all.end(), part.begin(), part.end());
    return all;
}

Bytes part_of(const Bytes& bytes, std::size_t from, std::size_t to) {
    return {bytes.begin() + static_cast<std::ptrdiff_t>(from),
            bytes.begin() + static_cast<std::ptrdiff_t>(to)};
}

Bytes with_bytes_around(const Bytes& packets, std::size_t before, std::size_t behind) {
    Bytes all;
    for (std::size_t at = 0; at < packets.size(); at += kTsPacketBytes) {
        all.insert(all.end(), before, static_cast<std::uint8_t>(at));
        all.insert(all.end(), packets.begin() + static_cast<std::ptrdiff_t>(at),
                   packets.begin() + static_cast<std::ptrdiff_t>(at + kTsPacketBytes));
        all.insert(all.end(), behind, static_cast<std::uint8_t>(at / 7));
    }
    return all;
}

struct Aligned {
    Bytes packets;
    AlignerCounts counts;
};

// However many bytes come at a time.
Aligned aligned(const Bytes& stream, std::size_t at_a_time = 1000) {
    TsAligner aligner;
    Aligned found;
    for (std::size_t at = 0; at < stream.size(); at += at_a_time)
        aligner.push(std::span(stream).subspan(at, std::min(at_a_time, stream.size() - at)), found.packets);
    aligner.finish(found.packets);
    found.counts = aligner.counts();
    return found;
}

}  // namespace

TEST_CASE("ts aligner: packets of 188, 192 and 204 bytes are found, in pieces of any size") {
    const Bytes packets = made_packets(30);
    for (const Bytes& stream :
         {packets, with_bytes_around(packets, 4, 0), with_bytes_around(packets, 0, 16)}) {
        for (const std::size_t at_a_time : {1U, 187U, 188U, 1316U, 100000U}) {
            CAPTURE(at_a_time);
            const Aligned found = aligned(stream, at_a_time);
            CHECK(found.packets == packets);
            CHECK(found.counts.losses == 0);
            CHECK(found.counts.bytes_left_out == 0);
        }
    }
}

TEST_CASE("ts aligner: time stamps that begin with a sync byte are none") {
    const Bytes packets = made_packets(30);
    for (const std::size_t stamped : {30U, 5U, 3U}) {
        CAPTURE(stamped);
        Bytes stream = with_bytes_around(packets, 4, 0);
        for (std::size_t k = 0; k < stamped; ++k) stream[192 * k] = kTsSyncByte;
        for (const std::size_t at_a_time : {1U, 187U, 100000U}) {
            const Aligned found = aligned(stream, at_a_time);
            CHECK(found.packets == packets);
            CHECK(found.counts.losses == 0);
        }
    }
}

TEST_CASE("ts aligner: a damaged sync byte costs its packet, and its place is known") {
    for (const std::size_t which : {3U, 4U, 15U, 27U, 28U, 29U}) {
        CAPTURE(which);
        const Bytes packets = made_packets(30);
        Bytes stream = packets;
        stream[which * kTsPacketBytes] = 0;
        const Aligned found = aligned(stream);
        CHECK(found.packets == joined({part_of(packets, 0, which * kTsPacketBytes),
                                       part_of(packets, (which + 1) * kTsPacketBytes, packets.size())}));
        CHECK(found.counts.losses == 1);
        CHECK(found.counts.first_at == which * kTsPacketBytes);
        CHECK(found.counts.bytes_left_out == kTsPacketBytes);
    }
}

TEST_CASE("ts aligner: what is inserted or missing costs no packet but the one in which it may be") {
    const Bytes packets = made_packets(30);
    const Bytes garbage(1000, 'X');
    const std::size_t middle = 10 * kTsPacketBytes;
    const Bytes head = part_of(packets, 0, middle), tail = part_of(packets, middle, packets.size());
    const auto without_tenth = joined({head, part_of(packets, middle + kTsPacketBytes, packets.size())});
    const Aligned between = aligned(joined({head, garbage, tail}));
    CHECK(between.packets == joined({part_of(packets, 0, middle - kTsPacketBytes), tail}));
    CHECK(between.counts.bytes_left_out == garbage.size() + kTsPacketBytes);
    const Aligned inside =
        aligned(joined({head, part_of(tail, 0, 50), garbage, part_of(tail, 50, tail.size())}));
    CHECK(inside.packets == without_tenth);
    CHECK(inside.counts.bytes_left_out == garbage.size() + kTsPacketBytes);
    const Aligned missing = aligned(joined({head, part_of(tail, 0, 50), part_of(tail, 51, tail.size())}));
    CHECK(missing.packets == without_tenth);
    CHECK(missing.counts.bytes_left_out == kTsPacketBytes - 1);
    const Aligned late = aligned(part_of(packets, 100, packets.size()));
    CHECK(late.packets == part_of(packets, kTsPacketBytes, packets.size()));
    CHECK(late.counts.losses == 0);
    CHECK(late.counts.bytes_left_out == 88);
}

TEST_CASE("ts aligner: short streams are taken whole, and what is no packets is left out") {
    const Bytes packets = made_packets(2);
    CHECK(aligned(packets).packets == packets);
    CHECK(aligned(packet(packets, 0)).packets == packet(packets, 0));
    const Aligned cut = aligned(joined({packets, Bytes(20, kTsSyncByte)}));
    CHECK(cut.packets == packets);
    CHECK(cut.counts.bytes_left_out == 20);
    const Aligned none = aligned(Bytes(5000, 'X'));
    CHECK(none.packets.empty());
    CHECK(none.counts.bytes_left_out == 5000);
    CHECK(aligned({}).packets.empty());
}

TEST_CASE("ts aligner: whatever is damaged at random, every byte is in a packet or is counted") {
    std::mt19937 random(7);
    for (unsigned round = 0; round < 200; ++round) {
        CAPTURE(round);
        Bytes stream = made_packets(40, round);
        for (unsigned times = random() % 8; times > 0; --times) {
            const auto at = stream.begin() + static_cast<std::ptrdiff_t>(random() % stream.size());
            if (random() % 3 == 0)
                stream.erase(at);
            else if (random() % 2 == 0)
                stream.insert(at, random() % 500, static_cast<std::uint8_t>(random()));
            else
                *at = static_cast<std::uint8_t>(random());
        }
        const Aligned found = aligned(stream, 1 + random() % 700);
        CHECK(found.packets.size() + found.counts.bytes_left_out == stream.size());
        CHECK(found.packets.size() % kTsPacketBytes == 0);
        CHECK(found.packets.size() > stream.size() / 4);
    }
}

TEST_CASE("ts datagrams: packets are taken as they are and behind RTP, of 188, 192 and 204 bytes") {
    const Bytes packets = made_packets(7);
    for (const Bytes& payload :
         {packets, with_bytes_around(packets, 4, 0), with_bytes_around(packets, 0, 16)}) {
        const Bytes header{0x80, 0x21, 0, 1, 0, 0, 0, 0, 'a', 'b', 'c', 'd'};
        Bytes extended = joined({header, Bytes(4, 9), Bytes{0, 0, 0, 1, 5, 6, 7, 8}, payload, Bytes{0, 2}});
        extended[0] = 0x80 | 0x20 | 0x10 | 1;  // padding, an extension, one source
        for (const Bytes& datagram : {payload, joined({header, payload}), extended}) {
            TsDatagrams datagrams;
            Bytes got;
            CHECK(datagrams.push(datagram, got));
            CHECK(got == packets);
            CHECK(datagrams.counts().bytes_left_out == 0);
        }
    }
}

TEST_CASE("ts datagrams: foreign ones are left out, a damaged packet costs itself, missing RTP is counted") {
    const Bytes packets = made_packets(7);
    TsDatagrams datagrams;
    Bytes got;
    for (const Bytes& foreign : {Bytes(1316, 'X'), Bytes(100, kTsSyncByte), Bytes{0x80}, Bytes(13, 0x9f)})
        CHECK_FALSE(datagrams.push(foreign, got));
    CHECK(got.empty());
    CHECK(datagrams.counts().datagrams_left_out == 4);
    CHECK(datagrams.counts().bytes_left_out == 1316 + 100 + 1 + 13);
    Bytes damaged = packets;
    damaged[2 * kTsPacketBytes] = 0;
    CHECK(datagrams.push(damaged, got));
    CHECK(got.size() == 6 * kTsPacketBytes);
    for (const std::uint16_t number : {65534, 65535, 65535, 2, 1, 3, 20000, 20001})
        datagrams.push(joined({Bytes{0x80, 0x21, static_cast<std::uint8_t>(number >> 8),
                                     static_cast<std::uint8_t>(number)},
                               Bytes(8, 0), packets}),
                       got);
    CHECK(datagrams.counts().rtp_missing == 2);
    CHECK(datagrams.counts().rtp_late == 2);  // 65535 again, and 1 behind 2
    CHECK(got.size() == (6 + 6 * 7) * kTsPacketBytes);
    TsDatagrams bytes(1, 0);
    got.clear();
    CHECK(bytes.push(Bytes(100, 'X'), got));
    CHECK(got.size() == 100);
}

}  // namespace tidemill::io
