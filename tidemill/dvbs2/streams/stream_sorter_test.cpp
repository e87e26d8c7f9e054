#include "tidemill/dvbs2/streams/stream_sorter.hpp"

#include <algorithm>
#include <map>
#include <random>
#include <vector>

#include <doctest/doctest.h>

#include "tidemill/dvbs2/streams/stream_slicer.hpp"
#include "tidemill/io/transport/ts_packet.hpp"

namespace tidemill::dvbs2 {
namespace {

constexpr std::size_t kFrameBytes = 1779;  // K_bch of QPSK 8/9, short

using Bytes = std::vector<std::uint8_t>;

Bytes random_packets(std::size_t count, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    Bytes bytes(count * io::kTsPacketBytes);
    std::ranges::generate(bytes, [&] { return static_cast<std::uint8_t>(random()); });
    for (std::size_t at = 0; at < bytes.size(); at += io::kTsPacketBytes) bytes[at] = io::kTsSyncByte;
    return bytes;
}

BbHeader header_of_stream(std::uint8_t stream) {
    BbHeader header;
    header.single_input = false;
    header.input_stream = stream;
    return header;
}

std::vector<Bytes> frames_of(const Bytes& packets, const BbHeader& header) {
    StreamSlicer packer(header);
    packer.feed(packets);
    std::vector<Bytes> frames;
    for (Bytes frame(kFrameBytes); packer.next(frame);) frames.push_back(frame);
    return frames;
}

// Three streams of 95 packets, frame by frame in turn.
struct ThreeStreams {
    std::map<std::uint8_t, Bytes> sent;
    std::vector<Bytes> frames;

    ThreeStreams() {
        std::vector<std::vector<Bytes>> all;
        for (const std::uint8_t stream : {std::uint8_t{3}, std::uint8_t{7}, std::uint8_t{200}}) {
            sent[stream] = random_packets(95, stream);
            all.push_back(frames_of(sent[stream], header_of_stream(stream)));
        }
        for (std::size_t i = 0; i < all[0].size(); ++i) {
            for (const auto& stream : all) frames.push_back(stream[i]);
        }
    }
};

struct Sorted {
    std::map<std::uint8_t, Bytes> packets;
    std::map<std::uint8_t, Bytes> generic;

    StreamOutputs outputs(bool with_generic = false) {
        const auto into = [](std::map<std::uint8_t, Bytes>& to) {
            return [&to](std::span<const std::uint8_t> bytes, std::uint8_t stream) {
                to[stream].insert(to[stream].end(), bytes.begin(), bytes.end());
            };
        };
        StreamOutputs outputs{into(packets)};
        if (with_generic) outputs.generic = into(generic);
        return outputs;
    }
};

bool begins_with(const Bytes& whole, const Bytes& part) {
    return !part.empty() && part.size() <= whole.size() &&
           std::equal(part.begin(), part.end(), whole.begin());
}

}  // namespace

TEST_CASE("stream sorter: all streams of several come out, each for itself") {
    ThreeStreams signal;
    Sorted sorted;
    StreamSorter sorter({.all = true}, sorted.outputs());
    for (const Bytes& frame : signal.frames) sorter.push(frame);
    sorter.finish();
    CHECK(sorted.packets.size() == 3);
    for (const auto& [stream, sent] : signal.sent) {
        CHECK(begins_with(sent, sorted.packets[stream]));
        CHECK(sorted.packets[stream].size() > 90 * io::kTsPacketBytes);
        CHECK(sorter.frames_of_streams().at(stream) == signal.frames.size() / 3);
    }
    CHECK(sorter.counts().frames == signal.frames.size());
    CHECK(sorter.counts().frames_of_other_streams == 0);
    CHECK(sorter.counts().frames_faulty == 0);
}

TEST_CASE("stream sorter: one stream is the one that was asked for, or the first") {
    ThreeStreams signal;
    for (const StreamChoice& choice : {StreamChoice{.only = 7}, StreamChoice{}}) {
        Sorted sorted;
        StreamSorter sorter(choice, sorted.outputs());
        for (const Bytes& frame : signal.frames) sorter.push(frame);
        sorter.finish();
        const std::uint8_t wanted = choice.only.value_or(3);
        CHECK(sorted.packets.size() == 1);
        CHECK(begins_with(signal.sent[wanted], sorted.packets[wanted]));
        CHECK(sorter.counts().frames_of_other_streams == 2 * signal.frames.size() / 3);
    }
}

TEST_CASE("stream sorter: generic streams go to their output, and are told when there is none") {
    BbHeader header;
    header.stream_type = StreamType::generic_continuous;
    header.packet_bits = 0;
    header.sync = 0;
    header.data_bits = 8 * 100;
    Bytes frame(kFrameBytes, 0x55);
    write_bb_header(header, std::span(frame).first<kBbHeaderBytes>());
    Sorted sorted;
    StreamSorter with(StreamChoice{}, sorted.outputs(true));
    with.push(frame);
    CHECK(sorted.generic[0] == Bytes(100, 0x55));
    CHECK(with.generic_frames() == 1);
    CHECK(with.generic_bytes() == 100);
    CHECK(with.counts().frames_unsupported == 0);
    StreamSorter without(StreamChoice{}, sorted.outputs());
    without.push(frame);
    CHECK(without.counts().frames_unsupported == 1);
    CHECK(without.frames_by_fault()[static_cast<std::size_t>(BbFault::generic_stream)] == 1);
}

TEST_CASE("stream sorter: generic packets come out whole, apart from transport streams") {
    BbHeader header;
    header.stream_type = StreamType::generic_packetised;
    const Bytes generic = random_packets(95, 1);
    const Bytes transport = random_packets(95, 2);
    const auto generic_frames = frames_of(generic, header);
    const auto transport_frames = frames_of(transport, {});
    Sorted sorted;
    StreamSorter sorter(StreamChoice{}, sorted.outputs(true));
    for (std::size_t i = 0; i < generic_frames.size(); ++i) {
        sorter.push(generic_frames[i]);
        sorter.push(transport_frames[i]);
    }
    CHECK(begins_with(generic, sorted.generic[0]));
    CHECK(begins_with(transport, sorted.packets[0]));
    CHECK(sorted.generic[0].size() > 80 * io::kTsPacketBytes);
    CHECK(sorted.packets[0].size() > 80 * io::kTsPacketBytes);
    CHECK(sorter.generic_frames() == generic_frames.size());
    CHECK(sorter.generic_bytes() == sorted.generic[0].size());
    CHECK(sorter.counts().packets == sorted.packets[0].size() / io::kTsPacketBytes);
}

TEST_CASE("stream sorter: each stream has its own ISSY and null packets deleted, generic packets too") {
    struct Kind {
        StreamType type;
        UserPacketLayout layout;
    };
    const std::vector<Kind> kinds{{StreamType::transport, {188, 0, true}},
                                  {StreamType::transport, {188, 2, true}},
                                  {StreamType::transport, {188, 3, false}},
                                  {StreamType::transport, {188, 0, false}},
                                  {StreamType::generic_packetised, {47, 2, false}}};
    std::vector<Bytes> sent;
    std::vector<std::vector<Bytes>> frames;
    for (const auto& [type, layout] : kinds) {
        BbHeader header = header_of_stream(static_cast<std::uint8_t>(frames.size()));
        header.stream_type = type;
        header.packet_bits = static_cast<std::uint16_t>(8 * layout.bytes());
        header.input_sync_indicator = layout.issy_bytes > 0;
        header.null_packet_deletion = layout.has_dnp;
        sent.push_back(random_packets(300, frames.size()));
        for (std::size_t at = 0; at < sent.back().size(); at += layout.input_bytes) {
            sent.back()[at] = io::kTsSyncByte;
            if (type == StreamType::transport && at / 188 % 5 < 2)
                std::ranges::copy(io::kNullPacket, &sent.back()[at]);
        }
        frames.push_back(frames_of(sent.back(), header));
    }
    Sorted sorted;
    StreamSorter sorter({.all = true}, sorted.outputs(true));
    for (std::size_t i = 0; i < frames[0].size(); ++i) {
        for (const auto& stream : frames) sorter.push(stream[i]);
    }
    sorter.finish();
    for (std::uint8_t stream = 0; stream < 4; ++stream) {
        CHECK(begins_with(sent[stream], sorted.packets[stream]));
        CHECK(sorted.packets[stream].size() > 100 * io::kTsPacketBytes);
    }
    CHECK(begins_with(sent[4], sorted.generic[4]));
    CHECK(sorter.counts().frames_unsupported == 0);
    CHECK(sorter.counts().packets_dropped == 0);
    CHECK(sorter.counts().packets_cut_off == kinds.size());  // of each the last, which was begun only
    CHECK(sorter.counts().null_packets > 100);
    CHECK(sorter.counts().issy_fields[static_cast<std::size_t>(IssyKind::clock_short)] > 100);
    CHECK(sorter.counts().issy_fields[static_cast<std::size_t>(IssyKind::clock_long)] > 50);
    CHECK(sorter.counts().issy_fields[static_cast<std::size_t>(IssyKind::reserved)] == 0);
}

TEST_CASE("stream sorter: a frame of nobody's or a lost one never joins what does not belong together") {
    const Bytes sent = random_packets(95, 1);
    const auto frames = frames_of(sent, {});
    for (const bool damaged : {true, false}) {
        Sorted sorted;
        StreamSorter sorter(StreamChoice{}, sorted.outputs());
        for (std::size_t i = 0; i < frames.size(); ++i) {
            if (i == 3) {
                damaged ? sorter.push(Bytes(kFrameBytes, 0xff)) : sorter.lose();
            } else {
                sorter.push(frames[i]);
            }
        }
        sorter.finish();
        for (std::size_t at = 0; at < sorted.packets[0].size(); at += io::kTsPacketBytes) {
            const auto packet = std::span(sorted.packets[0]).subspan(at, io::kTsPacketBytes);
            CHECK_FALSE(std::ranges::search(sent, packet).empty());
        }
        CHECK(sorter.counts().frames_faulty == (damaged ? 1 : 0));
        CHECK(sorter.counts().frames_lost == (damaged ? 0 : 1));
        CHECK(sorter.counts().packets > 75);
    }
}

TEST_CASE("stream sorter: random frames are counted one by one and never crash it") {
    std::mt19937_64 random(5);
    Sorted sorted;
    StreamSorter sorter({.all = true, .damaged = DamagedPacket::mark}, sorted.outputs(true));
    const std::uint64_t frames = 3000;
    for (std::uint64_t i = 0; i < frames; ++i) {
        Bytes frame(random() % 4 == 0 ? random() % 40 : kFrameBytes);
        std::ranges::generate(frame, [&] { return static_cast<std::uint8_t>(random()); });
        if (frame.size() == kFrameBytes) {
            BbHeader header = header_of_stream(static_cast<std::uint8_t>(random() % 3));
            header.stream_type = static_cast<StreamType>(random() % 4);
            header.data_bits = static_cast<std::uint16_t>(random() % (8 * kFrameBytes));
            header.sync_distance = static_cast<std::uint16_t>(random() % (8 * kFrameBytes));
            write_bb_header(header, std::span(frame).first<kBbHeaderBytes>());
        }
        random() % 8 == 0 ? sorter.lose() : sorter.push(frame);
    }
    sorter.finish();
    const PacketCounts counts = sorter.counts();
    CHECK(counts.frames + counts.frames_lost == frames);
    CHECK(counts.frames_faulty > 0);
    CHECK(sorter.generic_frames() > 0);
}

}  // namespace tidemill::dvbs2
