#include "tidemill/dvbs2/streams/stream_sorter.hpp"

#include <utility>

namespace tidemill::dvbs2 {

StreamSorter::StreamSorter(const StreamChoice& choice, StreamOutputs outputs)
    : choice_(choice), outputs_(std::move(outputs)) {}

void StreamSorter::push(std::span<const std::uint8_t> bbframe) {
    ++frames_;
    ++frames_by_fault_[static_cast<std::size_t>(sort(bbframe))];
}

BbFault StreamSorter::sort(std::span<const std::uint8_t> bbframe) {
    const auto [header, fault] = parse_bb_header(bbframe);
    if (fault != BbFault::none) {
        // The stream of that frame cannot be known: nobody may join what stands before and behind it.
        break_off();
        return fault;
    }
    const std::uint8_t stream = header.single_input ? std::uint8_t{0} : header.input_stream;
    if (!header.single_input) ++frames_of_streams_[stream];
    if (!wants(header)) return BbFault::other_input_stream;
    if (header.stream_type != StreamType::transport) return sort_generic(bbframe, header, stream);
    PacketExtractor& extractor = extractor_of(StreamType::transport, stream);
    const BbFault found = extractor.push(bbframe, packets_);
    if (const auto clock = extractor.take_input_clock(); clock && outputs_.input_clock)
        outputs_.input_clock(*clock, stream);
    give_out(StreamType::transport, stream);
    return found;
}

BbFault StreamSorter::sort_generic(std::span<const std::uint8_t> bbframe, const BbHeader& header,
                                   std::uint8_t stream) {
    const bool is_continuous = header.stream_type == StreamType::generic_continuous;
    if (!outputs_.generic && !(is_continuous && outputs_.fields)) return BbFault::generic_stream;
    BbFault found = BbFault::none;
    if (is_continuous) {
        const auto field = bbframe.subspan(kBbHeaderBytes, header.data_bits / 8U);
        if (outputs_.generic) give_generic(field, stream);
        if (outputs_.fields) outputs_.fields(field, stream);
    } else {
        found = extractor_of(StreamType::generic_packetised, stream).push(bbframe, packets_);
        give_out(StreamType::generic_packetised, stream);
    }
    generic_frames_ += found == BbFault::none ? 1U : 0U;
    return found;
}

bool StreamSorter::wants(const BbHeader& header) {
    if (header.single_input || choice_.all) return true;
    if (!choice_.only) choice_.only = header.input_stream;
    return *choice_.only == header.input_stream;
}

PacketExtractor& StreamSorter::extractor_of(StreamType type, std::uint8_t stream) {
    return extractors_.try_emplace({type, stream}, PacketExtractorOptions{choice_.damaged, {}}).first->second;
}

void StreamSorter::give_out(StreamType type, std::uint8_t stream) {
    if (packets_.empty()) return;
    if (type == StreamType::transport)
        outputs_.packets(packets_, stream);
    else
        give_generic(packets_, stream);
    packets_.clear();
}

void StreamSorter::give_generic(std::span<const std::uint8_t> bytes, std::uint8_t stream) {
    generic_bytes_ += bytes.size();
    outputs_.generic(bytes, stream);
}

void StreamSorter::lose() {
    ++frames_lost_;
    break_off();
}

void StreamSorter::break_off() {
    for (auto& [key, extractor] : extractors_) {
        extractor.lose(packets_);
        give_out(key.first, key.second);
    }
}

void StreamSorter::finish() {
    for (auto& [key, extractor] : extractors_) {
        extractor.finish(packets_);
        give_out(key.first, key.second);
    }
}

PacketCounts StreamSorter::counts() const {
    PacketCounts sum;
    for (const auto& [key, extractor] : extractors_) {
        const PacketCounts& one = extractor.counts();
        sum.frames_completed += one.frames_completed;
        sum.resynchronisations += one.resynchronisations;
        if (key.first == StreamType::transport) sum.packets += one.packets;
        sum.packets_marked += one.packets_marked;
        sum.packets_dropped += one.packets_dropped;
        sum.packets_cut_off += one.packets_cut_off;
        sum.packets_unverified += one.packets_unverified;
        sum.null_packets += one.null_packets;
        for (std::size_t kind = 0; kind < kIssyKinds; ++kind) sum.issy_fields[kind] += one.issy_fields[kind];
    }
    sum.frames = frames_;
    sum.frames_lost = frames_lost_;
    for (std::size_t fault = 1; fault < kBbFaults; ++fault) sum.frames_faulty += frames_by_fault_[fault];
    const auto with = [&](BbFault fault) { return frames_by_fault_[static_cast<std::size_t>(fault)]; };
    sum.frames_of_other_streams = with(BbFault::other_input_stream);
    sum.frames_unsupported = with(BbFault::generic_stream) + with(BbFault::packet_format);
    sum.frames_faulty -= sum.frames_of_other_streams + sum.frames_unsupported;
    return sum;
}

}  // namespace tidemill::dvbs2
