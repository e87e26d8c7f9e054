#include "tidemill/dvbs2/streams/user_packet.hpp"

#include <algorithm>
#include <array>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include "tidemill/dvbs2/streams/packet_extractor.hpp"
#include "tidemill/dvbs2/streams/stream_slicer.hpp"
#include "tidemill/fec/crc8.hpp"

namespace tidemill::dvbs2 {
namespace {

using io::kTsPacketBytes;
using Bytes = std::vector<std::uint8_t>;

BbHeader header_of(const UserPacketLayout& layout) {
    BbHeader header;
    header.input_sync_indicator = layout.issy_bytes > 0;
    header.null_packet_deletion = layout.has_dnp;
    header.packet_bits = static_cast<std::uint16_t>(8 * layout.bytes());
    return header;
}

Bytes packet(std::uint8_t number) {
    Bytes bytes(kTsPacketBytes, number);
    bytes[0] = io::kTsSyncByte;
    bytes[1] = 0;
    return bytes;
}

void append(Bytes& to, std::span<const std::uint8_t> bytes) {
    to.insert(to.end(), bytes.begin(), bytes.end());
}

void append_nulls(Bytes& to, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) append(to, io::kNullPacket);
}

// A frame of data that begins with a packet.
Bytes frame_of(const Bytes& data, BbHeader header) {
    header.data_bits = static_cast<std::uint16_t>(8 * data.size());
    Bytes frame(kBbHeaderBytes);
    write_bb_header(header, std::span(frame).first<kBbHeaderBytes>());
    append(frame, data);
    return frame;
}

// Packets behind runs of null packets, and a run in the end.
Bytes stream_of(const std::vector<std::size_t>& runs) {
    Bytes stream;
    for (const std::size_t run : runs) {
        append_nulls(stream, run);
        append(stream, packet(static_cast<std::uint8_t>(run)));
    }
    append_nulls(stream, runs.empty() ? 0 : runs.front());
    return stream;
}

// Units of the user packets: a packet and the null packets deleted before it, at most 255; the last packet is
// sent in any case.
std::vector<Bytes> units_of(const Bytes& stream, bool deletes) {
    std::vector<Bytes> units;
    Bytes unit;
    for (std::size_t at = 0; at < stream.size(); at += kTsPacketBytes) {
        const auto one = std::span(stream).subspan(at, kTsPacketBytes);
        append(unit, one);
        const bool is_deleted = deletes && io::is_null_packet(one) && unit.size() <= 255 * kTsPacketBytes;
        if (is_deleted && at + kTsPacketBytes < stream.size()) continue;
        units.push_back(std::exchange(unit, {}));
    }
    return units;
}

std::vector<std::size_t> any_runs() {
    const auto run = rc::gen::weightedOneOf<std::size_t>({{4, rc::gen::just<std::size_t>(0)},
                                                          {4, rc::gen::inRange<std::size_t>(1, 6)},
                                                          {1, rc::gen::inRange<std::size_t>(253, 260)},
                                                          {1, rc::gen::inRange<std::size_t>(509, 516)}});
    return *rc::gen::resize(60, rc::gen::container<std::vector<std::size_t>>(run));
}

UserPacketLayout any_layout() {
    return {kTsPacketBytes, *rc::gen::element<std::size_t>(0, 2, 3), *rc::gen::arbitrary<bool>()};
}

// The frames of a stream that comes in pieces, each frame of a length of its own.
std::vector<Bytes> sliced(const Bytes& stream, const UserPacketLayout& layout, std::uint32_t seed) {
    std::mt19937 random(seed);
    StreamSlicer slicer(header_of(layout), 1234.5);
    std::vector<Bytes> frames;
    const auto next_frame = [&] { return Bytes(kBbHeaderBytes + 1 + random() % 2000); };
    Bytes frame = next_frame();
    for (std::size_t at = 0; at < stream.size();) {
        const std::size_t bytes = std::min(stream.size() - at, (1 + random() % 40) * kTsPacketBytes);
        slicer.feed(std::span(stream).subspan(at, bytes));
        at += bytes;
        for (; slicer.next(frame); frame = next_frame()) frames.push_back(frame);
    }
    for (; slicer.finish(frame); frame = next_frame()) frames.push_back(frame);
    return frames;
}

}  // namespace

TEST_CASE("user packet: UPL, ISSYI and NPD together tell what stands behind a transport stream packet") {
    struct Row {
        bool issyi, npd;
        std::size_t bytes, issy_bytes;
    };
    // EN 302 307-1, D.3
    const std::vector<Row> rows{{false, false, 188, 0}, {true, false, 190, 2}, {true, false, 191, 3},
                                {false, true, 189, 0},  {true, true, 191, 2},  {true, true, 192, 3}};
    for (const bool issyi : {false, true}) {
        for (const bool npd : {false, true}) {
            for (std::size_t bytes = 180; bytes < 200; ++bytes) {
                CAPTURE(bytes);
                BbHeader header;
                header.input_sync_indicator = issyi;
                header.null_packet_deletion = npd;
                header.packet_bits = static_cast<std::uint16_t>(8 * bytes);
                const auto layout = user_packet_layout(header);
                const auto row = std::ranges::find_if(rows, [&](const Row& one) {
                    return one.issyi == issyi && one.npd == npd && one.bytes == bytes;
                });
                REQUIRE(layout.has_value() == (row != rows.end()));
                if (layout) CHECK(*layout == UserPacketLayout{188, row->issy_bytes, npd});
                header.sync = 0x48;
                CHECK_FALSE(user_packet_layout(header));
            }
        }
    }
}

TEST_CASE("user packet: generic packets have any whole length, short ISSY and no null packets") {
    BbHeader header;
    header.stream_type = StreamType::generic_packetised;
    header.sync = 0xa5;
    header.packet_bits = 8 * 40;
    CHECK(user_packet_layout(header) == UserPacketLayout{40, 0, false});
    header.input_sync_indicator = true;
    CHECK(user_packet_layout(header) == UserPacketLayout{38, 2, false});
    header.packet_bits = 8 * 2;
    CHECK_FALSE(user_packet_layout(header));
    header.packet_bits = 8 * 40 + 1;
    CHECK_FALSE(user_packet_layout(header));
    header.packet_bits = 8 * 40;
    header.null_packet_deletion = true;
    CHECK_FALSE(user_packet_layout(header));
}

TEST_CASE("user packet: ISSY fields are told apart by their first bits") {
    const auto kind = [](std::vector<std::uint8_t> field) { return issy_kind(field); };
    CHECK(kind({0x7f, 0xff}) == IssyKind::clock_short);
    CHECK(kind({0xbf, 0xff, 0xff}) == IssyKind::clock_long);
    CHECK(kind({0xc7, 0x12}) == IssyKind::buffer_size);
    CHECK(kind({0xc7, 0x12, 0x00}) == IssyKind::buffer_size);
    CHECK(kind({0xe0, 0x12, 0x00}) == IssyKind::buffer_status);
    CHECK(kind({0xd0, 0x00}) == IssyKind::reserved);
    CHECK(kind({0xf0, 0x00}) == IssyKind::reserved);
    CHECK(kind({0x7f, 0xff, 0xff}) == IssyKind::reserved);  // a short clock has two bytes
    CHECK(kind({0xbf, 0xff}) == IssyKind::reserved);        // a long one three
    std::set<std::string> names;
    for (std::size_t i = 0; i < kIssyKinds; ++i) names.insert(name(static_cast<IssyKind>(i)));
    CHECK(names.size() == kIssyKinds);
}

TEST_CASE("user packet: a clock is written with its lowest bits, first the highest of them") {
    std::array<std::uint8_t, 2> two{};
    write_iscr(0x12345, two);
    CHECK(two == std::array<std::uint8_t, 2>{0x23, 0x45});
    write_iscr(0xffff, two);
    CHECK(two == std::array<std::uint8_t, 2>{0x7f, 0xff});
    std::array<std::uint8_t, 3> three{};
    write_iscr(0x7712345, three);
    CHECK(three == std::array<std::uint8_t, 3>{0xb1, 0x23, 0x45});
    CHECK(issy_kind(two) == IssyKind::clock_short);
    CHECK(issy_kind(three) == IssyKind::clock_long);
    CHECK(read_long_iscr(three) == 0x312345);
}

TEST_CASE("user packet: a stream laid out by hand as figure D.3 draws it comes back with its null packets") {
    const std::array<std::uint8_t, 3> issy{0x81, 0x02, 0x03};
    const std::vector<std::pair<std::uint8_t, std::uint8_t>> sent{{1, 0}, {2, 0}, {3, 2}, {4, 255}};
    Bytes data;
    Bytes expected;
    std::uint8_t crc = 0;
    for (const auto& [number, dnp] : sent) {
        Bytes user_packet = packet(number);
        append_nulls(expected, dnp);
        append(expected, user_packet);
        append(user_packet, issy);
        user_packet.push_back(dnp);
        user_packet[0] = crc;
        crc = fec::crc8(std::span(user_packet).subspan(1));  // the useful part: all but the sync byte (5.1.4)
        append(data, user_packet);
    }
    const Bytes frame = frame_of(data, header_of({kTsPacketBytes, 3, true}));
    PacketExtractor extractor;
    Bytes out;
    CHECK(extractor.push(frame, out) == BbFault::none);
    extractor.finish(out);
    CHECK(out == expected);
    CHECK(extractor.counts().null_packets == 257);
    CHECK(extractor.counts().packets == 261);
    CHECK(extractor.counts().packets_dropped == 0);
    CHECK(extractor.counts().issy_fields[static_cast<std::size_t>(IssyKind::clock_long)] == 4);
    CHECK(extractor.take_input_clock() == 0x010203);
    CHECK_FALSE(extractor.take_input_clock());
}

TEST_CASE("stream slicer, packet extractor: what goes in comes out, with its null packets where they were") {
    CHECK(rc::check("round trip", [] {
        const Bytes stream = stream_of(any_runs());
        const UserPacketLayout layout = any_layout();
        PacketExtractor extractor;
        Bytes out;
        for (const Bytes& frame : sliced(stream, layout, *rc::gen::arbitrary<std::uint32_t>())) {
            RC_ASSERT(extractor.push(frame, out) == BbFault::none);
        }
        extractor.finish(out);
        RC_ASSERT(out == stream);
        RC_ASSERT(extractor.counts().resynchronisations == 0U);
    }));
}

TEST_CASE(
    "packet extractor: a lost frame costs the packets it touches and the null packets before them, no "
    "other") {
    CHECK(rc::check("whole packets come with their null packets", [] {
        const UserPacketLayout layout = any_layout();
        const Bytes stream = stream_of(any_runs());
        const auto units = units_of(stream, layout.has_dnp);
        std::mt19937 random(*rc::gen::arbitrary<std::uint32_t>());
        std::vector<bool> is_whole(units.size(), true);
        PacketExtractor extractor;
        Bytes out;
        std::size_t at = 0;  // of the user packets' bytes
        for (const Bytes& frame : sliced(stream, layout, random())) {
            const std::size_t end = at + parse_bb_header(frame).header.data_bits / 8U;
            if (random() % 6 != 0) {
                extractor.push(frame, out);
            } else {
                extractor.lose(out);
                for (std::size_t i = at / layout.bytes(); i * layout.bytes() < end; ++i) is_whole[i] = false;
            }
            at = end;
        }
        extractor.finish(out);
        RC_ASSERT(at == units.size() * layout.bytes());
        Bytes expected;
        for (std::size_t i = 0; i < units.size(); ++i) append(expected, is_whole[i] ? units[i] : Bytes{});
        RC_ASSERT(out == expected);
    }));
}

TEST_CASE(
    "packet extractor: one wrong bit in packet, ISSY, DNP or CRC-8 costs that packet and what DNP said") {
    CHECK(rc::check("one packet less", [] {
        const UserPacketLayout layout = any_layout();
        auto runs = any_runs();
        runs.push_back(3);
        runs.push_back(0);
        const Bytes stream = stream_of(runs);
        auto units = units_of(stream, layout.has_dnp);
        // The CRC-8 of a packet stands before the next one; the first has no packet, and of the last there is
        // none.
        const auto wrong = *rc::gen::inRange<std::size_t>(0, units.size() - 1);
        const auto byte = 1 + wrong * layout.bytes() + *rc::gen::inRange<std::size_t>(0, layout.bytes());
        const bool is_marked = *rc::gen::arbitrary<bool>();
        PacketExtractor extractor({is_marked ? DamagedPacket::mark : DamagedPacket::drop, {}});
        Bytes out;
        std::size_t at = 0;
        for (Bytes frame : sliced(stream, layout, *rc::gen::arbitrary<std::uint32_t>())) {
            const std::size_t end = at + parse_bb_header(frame).header.data_bits / 8U;
            if (at <= byte && byte < end) frame[kBbHeaderBytes + byte - at] ^= 0x10;
            extractor.push(frame, out);
            at = end;
        }
        extractor.finish(out);
        Bytes before;
        Bytes behind;
        for (std::size_t i = 0; i < units.size(); ++i)
            append(i < wrong ? before : behind, i == wrong ? Bytes{} : units[i]);
        RC_ASSERT(out.size() == before.size() + behind.size() + (is_marked ? kTsPacketBytes : 0));
        RC_ASSERT(std::equal(before.begin(), before.end(), out.begin()));
        RC_ASSERT(std::equal(behind.rbegin(), behind.rend(), out.rbegin()));
        RC_ASSERT(!is_marked || (out[before.size() + 1] & 0x80) != 0);
    }));
}

}  // namespace tidemill::dvbs2
