#include "tidemill/dvbs2/streams/stream_slicer.hpp"

#include <algorithm>
#include <stdexcept>
#include <vector>

#include <doctest/doctest.h>

#include "tidemill/dvbs2/dvbs2_error.hpp"
#include "tidemill/fec/crc8.hpp"
#include "tidemill/io/transport/ts_packet.hpp"

namespace tidemill::dvbs2 {
namespace {

using io::kTsPacketBytes;

std::vector<std::uint8_t> packets(std::size_t count) {
    std::vector<std::uint8_t> bytes(count * kTsPacketBytes);
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        bytes[i] = i % kTsPacketBytes == 0 ? io::kTsSyncByte : static_cast<std::uint8_t>(i * i >> 3);
    }
    return bytes;
}

// The data fields of all frames that the packets make, padded one included, and their headers.
struct Packed {
    std::vector<BbHeader> headers;
    std::vector<std::uint8_t> data;
};

Packed pack(std::span<const std::uint8_t> stream, std::size_t frame_bytes) {
    StreamSlicer packer;
    packer.feed(stream);
    Packed packed;
    std::vector<std::uint8_t> bbframe(frame_bytes, 0xff);
    while (packer.next(bbframe) || packer.finish(bbframe)) {
        const auto parsed = parse_bb_header(bbframe);
        CHECK(parsed.fault == BbFault::none);
        packed.headers.push_back(parsed.header);
        const auto data = std::span(bbframe).subspan(kBbHeaderBytes);
        const auto used = data.first(parsed.header.data_bits / 8U);
        packed.data.insert(packed.data.end(), used.begin(), used.end());
        CHECK(std::ranges::all_of(data.subspan(used.size()), [](auto byte) { return byte == 0; }));
    }
    return packed;
}

}  // namespace

TEST_CASE(
    "stream slicer: each sync byte becomes the CRC-8 of the packet before, the rest runs on over the "
    "frames") {
    const auto stream = packets(100);
    const auto packed = pack(stream, 384);
    REQUIRE(packed.data.size() == stream.size());
    std::uint8_t crc = 0;
    for (std::size_t at = 0; at < stream.size(); at += kTsPacketBytes) {
        const auto body = std::span(stream).subspan(at + 1, kTsPacketBytes - 1);
        CHECK(packed.data[at] == crc);
        CHECK(std::ranges::equal(body, std::span(packed.data).subspan(at + 1, kTsPacketBytes - 1)));
        crc = fec::crc8(body);
    }
}

TEST_CASE("stream slicer: SYNCD of every frame points at the next start of a packet") {
    for (const std::size_t frame_bytes : {50U, 188U + 10U, 384U, 1779U, 7274U}) {
        const auto packed = pack(packets(300), frame_bytes);
        std::size_t at = 0;
        for (const auto& header : packed.headers) {
            const auto to_start = (kTsPacketBytes - at % kTsPacketBytes) % kTsPacketBytes;
            const bool starts_here = 8 * to_start < header.data_bits;
            CHECK(header.sync_distance == (starts_here ? 8 * to_start : kNoPacketStarts));
            CHECK(header.packet_bits == 1504);
            at += header.data_bits / 8U;
        }
        CHECK(at == 300 * kTsPacketBytes);
    }
}

TEST_CASE("stream slicer: a frame is made only of packets that are there") {
    StreamSlicer packer;
    std::vector<std::uint8_t> bbframe(384);
    CHECK(!packer.next(bbframe));
    CHECK(!packer.finish(bbframe));
    packer.feed(packets(1));
    CHECK(!packer.next(bbframe));
    CHECK(packer.finish(bbframe));
    CHECK(!packer.finish(bbframe));
}

TEST_CASE("stream slicer: what is not packets is refused") {
    StreamSlicer packer;
    auto stream = packets(2);
    CHECK_THROWS_AS(packer.feed(std::span(stream).first(200)), Dvbs2Error);
    stream[188] = 0;
    CHECK_THROWS_AS(packer.feed(stream), Dvbs2Error);
}

TEST_CASE(
    "stream slicer: a continuous stream passes as it is, packets of any length by their own sync byte") {
    BbHeader continuous;
    continuous.stream_type = StreamType::generic_continuous;
    continuous.packet_bits = 0;
    StreamSlicer bytes(continuous);
    bytes.feed(std::vector<std::uint8_t>(100, 0x12));
    std::vector<std::uint8_t> bbframe(50);
    CHECK(bytes.next(bbframe));
    CHECK(parse_bb_header(bbframe).header.packet_bits == 0);
    CHECK(std::ranges::all_of(std::span(bbframe).subspan(kBbHeaderBytes), [](auto b) { return b == 0x12; }));

    BbHeader packetised;
    packetised.stream_type = StreamType::generic_packetised;
    packetised.packet_bits = 8 * 30;
    packetised.sync = 0xb8;
    StreamSlicer generic(packetised);
    std::vector<std::uint8_t> two(60, 0x55);
    two[0] = two[30] = 0xb8;
    generic.feed(two);
    CHECK(generic.next(bbframe));
    CHECK(parse_bb_header(bbframe).header.sync == 0xb8);
    CHECK(bbframe[kBbHeaderBytes + 30] == fec::crc8(std::vector<std::uint8_t>(29, 0x55)));
}

TEST_CASE("stream slicer: packets of part of a byte, and continuous ones with a length, are refused") {
    BbHeader header;
    header.packet_bits = 1501;
    CHECK_THROWS_AS(StreamSlicer{header}, Dvbs2Error);
    header.packet_bits = 0;
    CHECK_THROWS_AS(StreamSlicer{header}, Dvbs2Error);
    header.stream_type = StreamType::generic_continuous;
    CHECK_NOTHROW(StreamSlicer{header});
    header.packet_bits = 1504;
    CHECK_THROWS_AS(StreamSlicer{header}, Dvbs2Error);
}

TEST_CASE("stream slicer: null packets are counted behind the next packet, every 256th of a run is sent") {
    BbHeader header;
    header.null_packet_deletion = true;
    header.packet_bits = 8 * 189;
    StreamSlicer slicer(header);
    const auto useful = packets(1);
    const auto feed_nulls = [&](int count) {
        for (int i = 0; i < count; ++i) slicer.feed(io::kNullPacket);
    };
    slicer.feed(useful);
    feed_nulls(2);
    slicer.feed(useful);
    feed_nulls(256 + 7);
    slicer.feed(useful);
    feed_nulls(3);
    CHECK(slicer.waiting_bytes() == 4 * 189);
    CHECK(slicer.null_packets_deleted() == 2 + 255 + 7 + 3);
    std::vector<std::uint8_t> bbframe(kBbHeaderBytes + 5 * 189);
    CHECK_FALSE(slicer.next(bbframe));
    CHECK(slicer.finish(bbframe));  // and with it the last null packet, whose place nothing else would show
    CHECK_FALSE(slicer.finish(bbframe));
    CHECK(slicer.null_packets_deleted() == 2 + 255 + 7 + 2);
    const auto parsed = parse_bb_header(bbframe).header;
    CHECK(parsed.null_packet_deletion);
    CHECK(parsed.packet_bits == 8 * 189);
    CHECK(parsed.data_bits == 8 * 5 * 189);
    std::vector<int> counted;
    std::uint8_t crc = 0;
    for (std::size_t at = kBbHeaderBytes; at < bbframe.size(); at += 189) {
        CHECK(bbframe[at] == crc);
        counted.push_back(bbframe[at + 188]);
        crc = fec::crc8(std::span(bbframe).subspan(at + 1, 188));
    }
    CHECK(counted == std::vector{0, 2, 255, 7, 2});
}

TEST_CASE("stream slicer: ISSY tells when each packet came, in symbols, deleted null packets counted") {
    BbHeader header;
    header.null_packet_deletion = true;
    header.input_sync_indicator = true;
    for (const std::size_t bytes : {2U, 3U}) {
        header.packet_bits = static_cast<std::uint16_t>(8 * (189 + bytes));
        const double period_symbols = 1000000.25;
        StreamSlicer slicer(header, period_symbols);
        std::vector<std::uint64_t> came;
        const auto useful = packets(1);
        for (std::uint64_t number = 0; came.size() < 20; ++number) {
            if (number % 3 == 1) {
                slicer.feed(io::kNullPacket);
            } else {
                slicer.feed(useful);
                came.push_back(number);
            }
        }
        std::vector<std::uint8_t> bbframe(kBbHeaderBytes + 20 * (189 + bytes));
        REQUIRE(slicer.next(bbframe));
        for (std::size_t i = 0; i < came.size(); ++i) {
            const auto symbols = static_cast<std::uint64_t>(static_cast<double>(came[i]) * period_symbols);
            const auto* field = &bbframe[kBbHeaderBytes + i * (189 + bytes) + 188];
            if (bytes == 2) {
                CHECK((field[0] << 8 | field[1]) == symbols % (1U << 15U));
            } else {
                CHECK((field[0] & 0xc0) == 0x80);
                CHECK(((field[0] & 0x3f) << 16 | field[1] << 8 | field[2]) == symbols % (1U << 22U));
            }
        }
    }
}

}  // namespace tidemill::dvbs2
