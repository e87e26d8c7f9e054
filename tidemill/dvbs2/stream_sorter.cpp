#include "tidemill/dvbs2/stream_sorter.hpp"

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
        // Whose frame it was cannot be known: nobody may join what stands before and behind it.
        break_off();
        return fault;
    }
    const std::uint8_t stream = header.single_input ? std::uint8_t{0} : header.input_stream;
    if (!header.single_input) ++frames_of_streams_[stream];
    if (!wants(header)) return BbFault::other_input_stream;
    if (header.stream_type != StreamType::transport && outputs_.generic) {
        outputs_.generic(bbframe.subspan(kBbHeaderBytes, header.data_bits / 8U), stream);
        ++generic_frames_;
        return BbFault::none;
    }
    const BbFault found = extractor_of(stream).push(bbframe, packets_);
    give_out(stream);
    return found;
}

bool StreamSorter::wants(const BbHeader& header) {
    if (header.single_input || choice_.all) return true;
    if (!choice_.only) choice_.only = header.input_stream;
    return *choice_.only == header.input_stream;
}

TsExtractor& StreamSorter::extractor_of(std::uint8_t stream) {
    return extractors_.try_emplace(stream, TsExtractorOptions{choice_.damaged, {}}).first->second;
}

void StreamSorter::give_out(std::uint8_t stream) {
    if (!packets_.empty()) outputs_.packets(packets_, stream);
    packets_.clear();
}

void StreamSorter::lose() {
    ++frames_lost_;
    break_off();
}

void StreamSorter::break_off() {
    for (auto& [stream, extractor] : extractors_) {
        extractor.lose(packets_);
        give_out(stream);
    }
}

void StreamSorter::finish() {
    for (auto& [stream, extractor] : extractors_) {
        extractor.finish(packets_);
        give_out(stream);
    }
}

TsExtractorCounts StreamSorter::counts() const {
    TsExtractorCounts sum;
    for (const auto& [stream, extractor] : extractors_) {
        const TsExtractorCounts& one = extractor.counts();
        sum.resynchronisations += one.resynchronisations;
        sum.packets += one.packets;
        sum.packets_marked += one.packets_marked;
        sum.packets_dropped += one.packets_dropped;
        sum.packets_unverified += one.packets_unverified;
        sum.frames_unsupported += one.frames_unsupported;
    }
    sum.frames = frames_;
    sum.frames_lost = frames_lost_;
    sum.frames_of_other_streams = frames_by_fault_[static_cast<std::size_t>(BbFault::other_input_stream)];
    for (std::size_t fault = 1; fault < kFaults; ++fault) sum.frames_faulty += frames_by_fault_[fault];
    sum.frames_faulty -= sum.frames_of_other_streams + sum.frames_unsupported;
    return sum;
}

}  // namespace tidemill::dvbs2
