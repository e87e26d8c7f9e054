#include "tidemill/dvbs2/streams/packet_extractor.hpp"

#include <algorithm>
#include <utility>

#include "tidemill/fec/crc8.hpp"
#include "tidemill/io/transport/ts_packet.hpp"

namespace tidemill::dvbs2 {
namespace {

constexpr std::uint8_t kTransportErrorIndicator = 0x80;  // in the second byte (ISO/IEC 13818-1, 2.4.3.2)

// Copies bits between any bit positions; the standard lets data fields and packets begin inside a byte.
void copy_bits(std::span<const std::uint8_t> from, std::size_t from_bit, std::span<std::uint8_t> to,
               std::size_t to_bit, std::size_t count) {
    if ((from_bit | to_bit | count) % 8 == 0) {
        std::copy_n(from.data() + from_bit / 8, count / 8, to.data() + to_bit / 8);
        return;
    }
    for (std::size_t i = 0; i < count; ++i, ++from_bit, ++to_bit) {
        const int bit = from[from_bit / 8] >> (7 - from_bit % 8) & 1;
        const auto place = static_cast<std::uint8_t>(0x80U >> to_bit % 8);
        to[to_bit / 8] =
            static_cast<std::uint8_t>(bit != 0 ? to[to_bit / 8] | place : to[to_bit / 8] & ~place);
    }
}

BbFault unsupported_part(const BbHeader& header) {
    if (header.stream_type == StreamType::generic_continuous) {
        return BbFault::generic_stream;
    }
    return user_packet_layout(header) ? BbFault::none : BbFault::packet_format;
}

}  // namespace

PacketExtractor::PacketExtractor(const PacketExtractorOptions& options) : options_(options) {}

BbFault PacketExtractor::push(std::span<const std::uint8_t> bbframe, std::vector<std::uint8_t>& packets) {
    auto parsed = parse_bb_header(bbframe);
    const BbHeader whole = completed(parsed.header);
    const bool was_whole = whole == parsed.header;
    parsed.header = whole;
    const auto fault = classify(parsed);
    count(fault);
    counts_.frames_completed += fault == BbFault::none && !was_whole ? 1U : 0U;
    if (fault == BbFault::other_input_stream) {
        return fault;
    }
    if (fault != BbFault::none) {
        break_off(packets);
        return fault;
    }
    const auto& header = parsed.header;
    take_format(header, packets);
    if (header.data_bits > 0) {
        const auto begin_bit = align(header, packets);
        read(bbframe.subspan(kBbHeaderBytes), begin_bit, header.data_bits, packets);
    }
    return BbFault::none;
}

BbFault PacketExtractor::classify(const ParsedBbHeader& parsed) {
    const auto& header = parsed.header;
    if (parsed.fault != BbFault::none) {
        return parsed.fault;
    }
    if (!header.single_input && options_.input_stream.value_or(header.input_stream) != header.input_stream) {
        return BbFault::other_input_stream;
    }
    const auto fault = unsupported_part(header);
    if (!header.single_input && fault == BbFault::none) {
        options_.input_stream = header.input_stream;
    }
    return fault;
}

void PacketExtractor::count(BbFault fault) {
    ++counts_.frames;
    switch (fault) {
        case BbFault::none:
            break;
        case BbFault::other_input_stream:
            ++counts_.frames_of_other_streams;
            break;
        case BbFault::generic_stream:
        case BbFault::packet_format:
            ++counts_.frames_unsupported;
            break;
        default:
            ++counts_.frames_faulty;
    }
}

// Layout and sync byte of the packets seldom change; when they do, none runs on.
void PacketExtractor::take_format(const BbHeader& header, std::vector<std::uint8_t>& packets) {
    const bool is_transport = header.stream_type == StreamType::transport;
    const auto layout = user_packet_layout(header).value();
    if (!packet_.empty() && layout_ == layout && sync_ == header.sync && is_transport_ == is_transport)
        return;
    break_off(packets);
    packet_.resize(layout.bytes());
    layout_ = layout;
    sync_ = header.sync;
    is_transport_ = is_transport;
}

// Returns the bit of the data field from which to read on: 0 in an unbroken stream.
std::size_t PacketExtractor::align(const BbHeader& header, std::vector<std::uint8_t>& packets) {
    const auto missing_bits = (header.packet_bits - filled_bits_) % header.packet_bits;
    const auto expected = missing_bits < header.data_bits ? missing_bits : kNoPacketStarts;
    if (in_step_ && header.sync_distance == expected) {
        return 0;
    }
    counts_.resynchronisations += in_step_ ? 1U : 0U;
    break_off(packets);
    in_step_ = header.sync_distance != kNoPacketStarts;
    return in_step_ ? header.sync_distance : header.data_bits;
}

void PacketExtractor::read(std::span<const std::uint8_t> data, std::size_t begin_bit, std::size_t end_bit,
                           std::vector<std::uint8_t>& packets) {
    while (begin_bit < end_bit) {
        const auto taken = std::min(8 * packet_.size() - filled_bits_, end_bit - begin_bit);
        copy_bits(data, begin_bit, packet_, filled_bits_, taken);
        const bool crc_complete = filled_bits_ < 8 && filled_bits_ + taken >= 8;
        filled_bits_ += taken;
        begin_bit += taken;
        if (crc_complete && has_waiting_) {
            verify_waiting(packet_[0], packets);
        }
        if (filled_bits_ == 8 * packet_.size()) {
            std::swap(waiting_, packet_);
            packet_.resize(waiting_.size());
            has_waiting_ = true;
            filled_bits_ = 0;
        }
    }
}

void PacketExtractor::verify_waiting(std::uint8_t crc, std::vector<std::uint8_t>& packets) {
    if (fec::crc8(std::span(waiting_).subspan<1>()) == crc) {
        give_out_whole(packets);
    } else if (options_.damaged == DamagedPacket::mark && is_transport_) {
        waiting_[1] |= kTransportErrorIndicator;
        ++counts_.packets_marked;
        give_out(packets);
    } else {
        ++counts_.packets_dropped;
        has_waiting_ = false;
    }
}

void PacketExtractor::break_off(std::vector<std::uint8_t>& packets) {
    if (has_waiting_) {
        ++counts_.packets_unverified;
        give_out_whole(packets);
    }
    counts_.packets_dropped += filled_bits_ > 0 ? 1U : 0U;
    filled_bits_ = 0;
    in_step_ = false;
}

// With all that was sent behind it.
void PacketExtractor::give_out_whole(std::vector<std::uint8_t>& packets) {
    if (layout_.issy_bytes > 0) {
        const auto field = std::span(waiting_).subspan(layout_.input_bytes, layout_.issy_bytes);
        const IssyKind kind = issy_kind(field);
        ++counts_.issy_fields[static_cast<std::size_t>(kind)];
        if (kind == IssyKind::clock_long) input_clock_ = read_long_iscr(field);
    }
    const std::size_t deleted = layout_.has_dnp ? waiting_.back() : 0U;
    for (std::size_t i = 0; i < deleted; ++i) {
        packets.insert(packets.end(), io::kNullPacket.begin(), io::kNullPacket.end());
    }
    counts_.null_packets += deleted;
    counts_.packets += deleted;
    give_out(packets);
}

void PacketExtractor::give_out(std::vector<std::uint8_t>& packets) {
    waiting_[0] = sync_;
    const auto packet = std::span(waiting_).first(layout_.input_bytes);
    packets.insert(packets.end(), packet.begin(), packet.end());
    ++counts_.packets;
    has_waiting_ = false;
}

void PacketExtractor::lose(std::vector<std::uint8_t>& packets) {
    ++counts_.frames_lost;
    break_off(packets);
}

void PacketExtractor::finish(std::vector<std::uint8_t>& packets) {
    counts_.packets_cut_off += std::exchange(filled_bits_, 0) > 0 ? 1U : 0U;
    break_off(packets);
}

}  // namespace tidemill::dvbs2
