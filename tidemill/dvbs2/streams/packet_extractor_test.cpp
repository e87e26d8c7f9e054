#include "tidemill/dvbs2/streams/packet_extractor.hpp"

#include <algorithm>
#include <functional>
#include <random>
#include <vector>

#include <doctest/doctest.h>

#include "tidemill/dvbs2/streams/stream_slicer.hpp"
#include "tidemill/io/transport/ts_packet.hpp"

namespace tidemill::dvbs2 {
namespace {

using io::kTsPacketBytes;
using Bytes = std::vector<std::uint8_t>;

constexpr std::size_t kFrameBytes = 384;

// Packets that all differ, by their number in bytes 1 to 4.
Bytes packets(std::size_t count, std::uint32_t seed = 1) {
    std::mt19937 random(seed);
    Bytes bytes(count * kTsPacketBytes);
    std::ranges::generate(bytes, [&] { return static_cast<std::uint8_t>(random()); });
    for (std::size_t i = 0; i < count; ++i) {
        auto* packet = &bytes[i * kTsPacketBytes];
        packet[0] = io::kTsSyncByte;
        packet[1] &= 0x7f;
        packet[2] = static_cast<std::uint8_t>(i >> 8);
        packet[3] = static_cast<std::uint8_t>(i);
    }
    return bytes;
}

std::vector<Bytes> frames_of(const Bytes& stream, std::size_t frame_bytes = kFrameBytes,
                             const BbHeader& header = {}) {
    StreamSlicer packer(header);
    packer.feed(stream);
    std::vector<Bytes> frames;
    Bytes bbframe(frame_bytes);
    while (packer.next(bbframe) || packer.finish(bbframe)) {
        frames.push_back(bbframe);
    }
    return frames;
}

Bytes slice(const Bytes& stream, std::size_t first_packet, std::size_t count) {
    const auto begin = stream.begin() + static_cast<std::ptrdiff_t>(first_packet * kTsPacketBytes);
    return {begin, begin + static_cast<std::ptrdiff_t>(count * kTsPacketBytes)};
}

void rewrite_header(Bytes& frame, const std::function<void(BbHeader&)>& change) {
    auto header = parse_bb_header(frame).header;
    change(header);
    write_bb_header(header, std::span(frame).first<kBbHeaderBytes>());
}

// The numbers of the packets given out; a packet that was never carried fails the test.
std::vector<std::size_t> numbers_of(const Bytes& out, const Bytes& stream) {
    std::vector<std::size_t> numbers;
    for (std::size_t at = 0; at < out.size(); at += kTsPacketBytes) {
        const std::size_t number = out[at + 2] * 256U + out[at + 3];
        REQUIRE(number < stream.size() / kTsPacketBytes);
        REQUIRE(std::equal(out.begin() + static_cast<std::ptrdiff_t>(at),
                           out.begin() + static_cast<std::ptrdiff_t>(at + kTsPacketBytes),
                           stream.begin() + static_cast<std::ptrdiff_t>(number * kTsPacketBytes)));
        numbers.push_back(number);
    }
    return numbers;
}

// A frame whose data field is moved by some bits, as a sender with odd field lengths would cut it.
std::vector<Bytes> recut(const std::vector<Bytes>& frames, std::size_t data_bits) {
    std::vector<bool> bits;
    for (const auto& frame : frames) {
        for (std::size_t i = 0; i < parse_bb_header(frame).header.data_bits; ++i) {
            bits.push_back((frame[kBbHeaderBytes + i / 8] >> (7 - i % 8) & 1) != 0);
        }
    }
    std::vector<Bytes> cut;
    for (std::size_t at = 0; at < bits.size(); at += data_bits) {
        Bytes frame(kFrameBytes);
        const auto count = std::min(data_bits, bits.size() - at);
        for (std::size_t i = 0; i < count; ++i) {
            frame[kBbHeaderBytes + i / 8] |= static_cast<std::uint8_t>(bits[at + i] ? 0x80U >> i % 8 : 0U);
        }
        const auto to_start = (8 * kTsPacketBytes - at % (8 * kTsPacketBytes)) % (8 * kTsPacketBytes);
        rewrite_header(frame, [&](BbHeader& header) {
            header = BbHeader{};
            header.data_bits = static_cast<std::uint16_t>(count);
            header.sync_distance = to_start < count ? static_cast<std::uint16_t>(to_start) : kNoPacketStarts;
        });
        cut.push_back(frame);
    }
    return cut;
}

Bytes extract_all(const std::vector<Bytes>& frames, PacketExtractor& extractor) {
    Bytes out;
    for (const auto& frame : frames) {
        extractor.push(frame, out);
    }
    extractor.finish(out);
    return out;
}

}  // namespace

TEST_CASE("packet extractor: an unbroken stream comes out as it went in, for any frame length") {
    const auto stream = packets(500);
    for (const std::size_t frame_bytes : {50U, 198U, 384U, 1779U, 7274U}) {
        CAPTURE(frame_bytes);
        PacketExtractor extractor;
        CHECK(extract_all(frames_of(stream, frame_bytes), extractor) == stream);
        CHECK(extractor.counts().packets == 500);
        CHECK(extractor.counts().packets_dropped == 0);
        CHECK(extractor.counts().resynchronisations == 0);
    }
}

TEST_CASE("packet extractor: generic packets come out with their sync byte, checked by their CRC-8") {
    for (const std::size_t packet_bytes : {2U, 29U, 188U, 1000U, 8191U}) {
        CAPTURE(packet_bytes);
        BbHeader header;
        header.stream_type = StreamType::generic_packetised;
        header.packet_bits = static_cast<std::uint16_t>(8 * packet_bytes);
        header.sync = 0xa5;
        auto stream = packets(200 * packet_bytes / kTsPacketBytes + 20);
        stream.resize(stream.size() / packet_bytes * packet_bytes);
        for (std::size_t at = 0; at < stream.size(); at += packet_bytes) stream[at] = 0xa5;
        auto frames = frames_of(stream, kFrameBytes, header);
        PacketExtractor extractor;
        CHECK(extract_all(frames, extractor) == stream);
        frames[frames.size() / 2][200] ^= 4;
        PacketExtractor strict({DamagedPacket::mark, {}});  // no such mark in a generic packet
        CHECK(extract_all(frames, strict).size() == stream.size() - packet_bytes);
        CHECK(strict.counts().packets_dropped == 1);
    }
}

TEST_CASE("packet extractor: when the packets change, none is joined from both kinds") {
    const auto stream = packets(20);
    BbHeader header;
    header.stream_type = StreamType::generic_packetised;
    auto frames = frames_of(stream);
    const auto others = frames_of(stream, kFrameBytes, header);
    frames.insert(frames.begin() + 4, others.begin() + 4, others.end());
    PacketExtractor extractor;
    // Four frames of 374 bytes end in packet 7, which is lost; the next begins in the fifth.
    auto expected = slice(stream, 0, 7);
    const auto rest = slice(stream, 8, 12);
    expected.insert(expected.end(), rest.begin(), rest.end());
    Bytes out;
    for (std::size_t i = 0; i < others.size(); ++i) extractor.push(frames[i], out);
    extractor.finish(out);
    CHECK(out == expected);
}

TEST_CASE("packet extractor: data fields that end inside a byte are joined bit by bit") {
    const auto stream = packets(100);
    for (const std::size_t data_bits : {1001U, 1503U, 1504U, 2989U}) {
        CAPTURE(data_bits);
        PacketExtractor extractor;
        CHECK(extract_all(recut(frames_of(stream), data_bits), extractor) == stream);
    }
}

TEST_CASE("packet extractor: a stream heard from the middle begins with the first packet that starts there") {
    const auto stream = packets(100);
    auto frames = frames_of(stream);
    frames.erase(frames.begin(), frames.begin() + 3);
    PacketExtractor extractor;
    // Three frames carry 3 * 374 bytes, so packet 5 has begun before and packet 6 is the first whole one.
    CHECK(extract_all(frames, extractor) == slice(stream, 6, 94));
    CHECK(extractor.counts().packets_dropped == 0);
}

TEST_CASE("packet extractor: a lost frame costs the packets that it touches and no other") {
    const auto stream = packets(400);
    const auto frames = frames_of(stream);
    for (std::size_t lost = 1; lost + 1 < frames.size(); ++lost) {
        for (const bool noticed : {true, false}) {
            PacketExtractor extractor;
            Bytes out;
            for (std::size_t i = 0; i < frames.size(); ++i) {
                if (i != lost) {
                    extractor.push(frames[i], out);
                } else if (noticed) {
                    extractor.lose(out);
                }
            }
            extractor.finish(out);
            const auto data_bytes = kFrameBytes - kBbHeaderBytes;
            const auto first_hit = lost * data_bytes / kTsPacketBytes;
            const auto last_hit = ((lost + 1) * data_bytes - 1) / kTsPacketBytes;
            auto expected = slice(stream, 0, first_hit);
            const auto rest = slice(stream, last_hit + 1, 400 - last_hit - 1);
            expected.insert(expected.end(), rest.begin(), rest.end());
            CHECK(out == expected);
            CHECK(extractor.counts().frames_lost == (noticed ? 1 : 0));
            CHECK(extractor.counts().resynchronisations == (noticed ? 0 : 1));
        }
    }
}

TEST_CASE("packet extractor: a packet with a wrong CRC-8 is dropped or marked, as wished, and counted") {
    const auto stream = packets(50);
    auto frames = frames_of(stream);
    frames[4][kBbHeaderBytes + 100] ^= 1;  // byte 4 * 374 + 100 of the stream: in packet 8
    PacketExtractor dropping;
    auto without = slice(stream, 0, 8);
    const auto rest = slice(stream, 9, 41);
    without.insert(without.end(), rest.begin(), rest.end());
    CHECK(extract_all(frames, dropping) == without);
    CHECK(dropping.counts().packets_dropped == 1);
    PacketExtractor marking({DamagedPacket::mark, {}});
    const auto marked = extract_all(frames, marking);
    REQUIRE(marked.size() == stream.size());
    CHECK((marked[8 * kTsPacketBytes + 1] & 0x80) != 0);
    CHECK(slice(marked, 9, 41) == rest);
    CHECK(marking.counts().packets_marked == 1);
    CHECK(marking.counts().packets == 50);
}

TEST_CASE("packet extractor: frames that leave SYNC or UPL 0 give their packets, and are counted") {
    const Bytes sent = packets(20);
    for (const bool without_sync : {true, false}) {
        for (const bool without_length : {true, false}) {
            PacketExtractor extractor;
            Bytes out;
            auto frames = frames_of(sent);
            for (Bytes& frame : frames) {
                rewrite_header(frame, [&](BbHeader& header) {
                    if (without_sync) header.sync = 0;
                    if (without_length) header.packet_bits = 0;
                });
                CHECK(extractor.push(frame, out) == BbFault::none);
            }
            extractor.finish(out);
            CHECK(out == sent);
            CHECK(extractor.counts().frames_completed ==
                  (without_sync || without_length ? frames.size() : 0));
        }
    }
}

TEST_CASE("packet extractor: streams it cannot read are reported and never given out") {
    const auto fault_after = [](const std::function<void(BbHeader&)>& change) {
        auto frame = frames_of(packets(10)).front();
        rewrite_header(frame, change);
        PacketExtractor extractor;
        Bytes out;
        const auto fault = extractor.push(frame, out);
        extractor.finish(out);
        CHECK(out.empty());
        CHECK(extractor.counts().frames_unsupported == 1);
        return fault;
    };
    CHECK(fault_after([](BbHeader& h) { h.stream_type = StreamType::generic_continuous; }) ==
          BbFault::generic_stream);
    CHECK(fault_after([](BbHeader& h) { h.input_sync_indicator = true; }) == BbFault::packet_format);
    CHECK(fault_after([](BbHeader& h) { h.null_packet_deletion = true; }) == BbFault::packet_format);
    CHECK(fault_after([](BbHeader& h) { h.packet_bits = 1600; }) == BbFault::packet_format);
    CHECK(fault_after([](BbHeader& h) { h.sync = 0x48; }) == BbFault::packet_format);
}

TEST_CASE("packet extractor: of several input streams one is given out, the first or the one asked for") {
    BbHeader header;
    header.single_input = false;
    header.input_stream = 3;
    const auto stream3 = packets(40, 3);
    const auto frames3 = frames_of(stream3, kFrameBytes, header);
    header.input_stream = 9;
    const auto stream9 = packets(40, 9);
    const auto frames9 = frames_of(stream9, kFrameBytes, header);
    std::vector<Bytes> mixed;
    for (std::size_t i = 0; i < frames3.size(); ++i) {
        mixed.push_back(frames3[i]);
        mixed.push_back(frames9[i]);
    }
    PacketExtractor first;
    CHECK(extract_all(mixed, first) == stream3);
    PacketExtractor asked({DamagedPacket::drop, 9});
    CHECK(extract_all(mixed, asked) == stream9);
    CHECK(asked.counts().frames_of_other_streams == frames3.size());
}

TEST_CASE("packet extractor: frames without data change nothing") {
    const auto stream = packets(40);
    auto frames = frames_of(stream);
    Bytes empty(kFrameBytes);
    rewrite_header(empty, [](BbHeader& header) {
        header = BbHeader{};
        header.sync_distance = kNoPacketStarts;
    });
    frames.insert(frames.begin() + 5, empty);
    PacketExtractor extractor;
    CHECK(extract_all(frames, extractor) == stream);
}

TEST_CASE(
    "packet extractor: after any loss and order of frames, only carried packets come out, each at most "
    "once") {
    // Frames may be lost with or without notice; 100 seeded runs of 300 packets.
    const auto stream = packets(300);
    const auto frames = frames_of(stream);
    std::size_t given_out = 0;
    for (std::uint32_t seed = 1; seed <= 100; ++seed) {
        CAPTURE(seed);
        std::mt19937 random(seed);
        PacketExtractor extractor;
        Bytes out;
        for (const auto& frame : frames) {
            const auto fate = random() % 8;
            if (fate == 0) {
                extractor.lose(out);
            } else if (fate != 1) {
                extractor.push(frame, out);
            }
        }
        extractor.finish(out);
        const auto numbers = numbers_of(out, stream);
        CHECK(std::ranges::adjacent_find(numbers, std::greater_equal<>()) == numbers.end());
        given_out += numbers.size();
    }
    CHECK(given_out > 100 * 150);
}

TEST_CASE(
    "packet extractor: random bytes and damaged frames never crash it, and what is damaged stays rare") {
    // A damaged packet passes its CRC-8 once in 256 times; everything else that comes out was carried.
    const auto stream = packets(200);
    const auto frames = frames_of(stream);
    std::size_t alien = 0;
    std::size_t damaged = 0;
    for (std::uint32_t seed = 1; seed <= 200; ++seed) {
        std::mt19937 random(seed);
        PacketExtractor extractor;
        Bytes out;
        for (auto frame : frames) {
            if (random() % 4 == 0) {
                ++damaged;
                const auto begin = random() % frame.size();
                const auto end = std::min<std::size_t>(frame.size(), begin + 1 + random() % 200);
                for (auto at = begin; at < end; ++at) {
                    frame[at] = static_cast<std::uint8_t>(random());
                }
            }
            frame.resize(random() % 50 == 0 ? random() % frame.size() : frame.size());
            extractor.push(frame, out);
        }
        extractor.finish(out);
        REQUIRE(out.size() % kTsPacketBytes == 0);
        CHECK(extractor.counts().packets * kTsPacketBytes == out.size());
        for (std::size_t at = 0; at < out.size(); at += kTsPacketBytes) {
            const std::size_t number = out[at + 2] * 256U + out[at + 3];
            alien +=
                number >= 200 || slice(out, at / kTsPacketBytes, 1) != slice(stream, number, 1) ? 1U : 0U;
        }
    }
    CHECK(damaged > 4000);
    CHECK(alien < damaged / 64);
}

}  // namespace tidemill::dvbs2
