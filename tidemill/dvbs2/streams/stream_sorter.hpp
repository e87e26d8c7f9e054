#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "tidemill/dvbs2/streams/packet_extractor.hpp"
#include "tidemill/dvbs2/streams/stream_outputs.hpp"

namespace tidemill::dvbs2 {

/// Takes BBFRAMEs in order and gives each wanted input stream out for itself.
class StreamSorter {
  public:
    StreamSorter(const StreamChoice& choice, StreamOutputs outputs);

    /// An error-free packed BBFRAME, descrambled.
    void push(std::span<const std::uint8_t> bbframe);

    /// One or more frames are missing here.
    void lose();

    /// The stream ends: gives out the packets that waited only for their CRC-8.
    void finish();

    /// Counts of all streams together; packets are those of transport streams.
    PacketCounts counts() const;
    /// Frames by what was wrong with them, by BbFault.
    const std::array<std::uint64_t, kBbFaults>& frames_by_fault() const { return frames_by_fault_; }
    /// Frames of the streams seen, wanted or not; empty for a single-input signal.
    const std::map<std::uint8_t, std::uint64_t>& frames_of_streams() const { return frames_of_streams_; }
    /// Frames of generic streams that were given out.
    std::uint64_t generic_frames() const { return generic_frames_; }
    /// Bytes of generic streams.
    std::uint64_t generic_bytes() const { return generic_bytes_; }

    /// Writes its state into a checkpoint, or reads it from one.
    template <class Archive>
    void keep(Archive& archive) {
        archive("only", choice_.only)("frames_by_fault", frames_by_fault_);
        archive("frames", frames_)("frames_lost", frames_lost_)("generic_frames", generic_frames_)(
            "generic_bytes", generic_bytes_);
        keep_extractors(archive);
        keep_counts(archive);
    }

  private:
    template <class Archive>
    void keep_extractors(Archive& archive) {
        std::vector<std::uint8_t> kinds, numbers;
        for (const auto& [key, extractor] : extractors_) {
            kinds.push_back(static_cast<std::uint8_t>(key.first));
            numbers.push_back(key.second);
        }
        archive("kinds", kinds)("numbers", numbers);
        if (archive.gives_back()) extractors_.clear();
        for (std::size_t i = 0; i < std::min(kinds.size(), numbers.size()); ++i)
            archive("stream", extractor_of(static_cast<StreamType>(kinds[i]), numbers[i]));
    }
    template <class Archive>
    void keep_counts(Archive& archive) {
        std::vector<std::uint8_t> numbers;
        std::vector<std::uint64_t> frames;
        for (const auto& [number, count] : frames_of_streams_) {
            numbers.push_back(number);
            frames.push_back(count);
        }
        archive("seen", numbers)("frames_of_streams", frames);
        if (archive.gives_back()) frames_of_streams_.clear();
        for (std::size_t i = 0; i < std::min(numbers.size(), frames.size()); ++i)
            frames_of_streams_[numbers[i]] = frames[i];
    }

    bool wants(const BbHeader& header);
    BbFault sort(std::span<const std::uint8_t> bbframe);
    BbFault sort_generic(std::span<const std::uint8_t> bbframe, const BbHeader& header, std::uint8_t stream);
    PacketExtractor& extractor_of(StreamType type, std::uint8_t stream);
    void give_out(StreamType type, std::uint8_t stream);
    void give_generic(std::span<const std::uint8_t> bytes, std::uint8_t stream);
    void break_off();

    StreamChoice choice_;
    StreamOutputs outputs_;
    std::map<std::pair<StreamType, std::uint8_t>, PacketExtractor> extractors_;
    std::vector<std::uint8_t> packets_;
    std::array<std::uint64_t, kBbFaults> frames_by_fault_{};
    std::map<std::uint8_t, std::uint64_t> frames_of_streams_;
    std::uint64_t frames_ = 0;
    std::uint64_t frames_lost_ = 0;
    std::uint64_t generic_frames_ = 0;
    std::uint64_t generic_bytes_ = 0;
};

}  // namespace tidemill::dvbs2
