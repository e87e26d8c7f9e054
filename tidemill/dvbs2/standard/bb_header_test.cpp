#include "tidemill/dvbs2/standard/bb_header.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include "tidemill/fec/crc8.hpp"

namespace tidemill::dvbs2 {
namespace {

constexpr std::size_t kFrameBytes = 384;  // K_bch of QPSK 1/4, short

std::vector<std::uint8_t> frame_with(const BbHeader& header) {
    std::vector<std::uint8_t> bbframe(kFrameBytes);
    write_bb_header(header, std::span(bbframe).first<kBbHeaderBytes>());
    return bbframe;
}

BbFault fault_of(const BbHeader& header) {
    return parse_bb_header(frame_with(header)).fault;
}

BbHeader any_header() {
    BbHeader header;
    header.stream_type = static_cast<StreamType>(*rc::gen::inRange(0, 4));
    header.single_input = *rc::gen::arbitrary<bool>();
    header.constant_coding = *rc::gen::arbitrary<bool>();
    header.input_sync_indicator = *rc::gen::arbitrary<bool>();
    header.null_packet_deletion = *rc::gen::arbitrary<bool>();
    header.rolloff_code = static_cast<std::uint8_t>(*rc::gen::inRange(0, 4));
    header.input_stream = *rc::gen::arbitrary<std::uint8_t>();
    header.packet_bits = *rc::gen::arbitrary<std::uint16_t>();
    header.data_bits = *rc::gen::arbitrary<std::uint16_t>();
    header.sync = *rc::gen::arbitrary<std::uint8_t>();
    header.sync_distance = *rc::gen::arbitrary<std::uint16_t>();
    return header;
}

}  // namespace

TEST_CASE("bb header: the fields lie where the standard puts them") {
    BbHeader header;
    header.data_bits = 0x0bb0;
    header.sync_distance = 0x0123;
    header.input_stream = 0x5a;
    const auto bbframe = frame_with(header);
    const std::array<std::uint8_t, 9> expected = {0xf2, 0x5a, 0x05, 0xe0, 0x0b, 0xb0, 0x47, 0x01, 0x23};
    CHECK(std::equal(expected.begin(), expected.end(), bbframe.begin()));
    CHECK(bbframe[9] == fec::crc8(expected));
}

TEST_CASE("bb header: what is written is what is read, whatever the values") {
    CHECK(rc::check("round trip", [] {
        const auto header = any_header();
        RC_ASSERT(parse_bb_header(frame_with(header)).header == header);
    }));
}

TEST_CASE("bb header: lengths that cannot be are refused by name") {
    BbHeader header;
    header.data_bits = 8 * (kFrameBytes - kBbHeaderBytes);
    CHECK(fault_of(header) == BbFault::none);
    header.sync_distance = header.data_bits - 1;
    CHECK(fault_of(header) == BbFault::none);
    header.sync_distance = header.data_bits;
    CHECK(fault_of(header) == BbFault::sync_outside_data_field);
    header.sync_distance = kNoPacketStarts;
    CHECK(fault_of(header) == BbFault::none);
    ++header.data_bits;
    CHECK(fault_of(header) == BbFault::data_field_too_long);
    header.stream_type = StreamType::reserved;
    CHECK(fault_of(header) == BbFault::reserved_stream_type);
    CHECK(parse_bb_header(std::vector<std::uint8_t>(9)).fault == BbFault::too_short);
}

TEST_CASE("bb header: any burst of up to eight wrong bits is noticed") {
    CHECK(rc::check("a burst changes the checksum", [] {
        auto bbframe = frame_with(any_header());
        const auto burst = static_cast<unsigned>(*rc::gen::inRange(1, 256));
        const auto place = *rc::gen::inRange<std::size_t>(0, 72);
        const auto shifted = burst << (8 - place % 8);
        bbframe[place / 8] ^= static_cast<std::uint8_t>(shifted >> 8);
        bbframe[place / 8 + 1] ^= static_cast<std::uint8_t>(shifted);
        const BbFault fault = parse_bb_header(bbframe).fault;
        RC_ASSERT(fault == BbFault::checksum || fault == BbFault::high_efficiency);
    }));
}

TEST_CASE("bb header: one whose CRC-8 has the mode of high efficiency added is named so") {
    auto bbframe = frame_with({});
    bbframe[kBbHeaderBytes - 1] ^= 1;
    CHECK(parse_bb_header(bbframe).fault == BbFault::high_efficiency);
    bbframe[kBbHeaderBytes - 1] ^= 3;
    CHECK(parse_bb_header(bbframe).fault == BbFault::checksum);
}

TEST_CASE("bb header: every fault has a description of its own") {
    std::vector<std::string_view> texts;
    for (int fault = 0; fault < static_cast<int>(kBbFaults); ++fault) {
        texts.push_back(describe(static_cast<BbFault>(fault)));
    }
    std::ranges::sort(texts);
    CHECK(std::ranges::adjacent_find(texts) == texts.end());
}

}  // namespace tidemill::dvbs2
