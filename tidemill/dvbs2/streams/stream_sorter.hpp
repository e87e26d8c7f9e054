#pragma once

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

    /// Of all streams together.
    PacketCounts counts() const;
    /// Frames by what was wrong with them, by BbFault.
    const std::array<std::uint64_t, kBbFaults>& frames_by_fault() const { return frames_by_fault_; }
    /// Frames of the streams seen, wanted or not; empty for a single-input signal.
    const std::map<std::uint8_t, std::uint64_t>& frames_of_streams() const { return frames_of_streams_; }
    /// Frames of generic streams that were given out.
    std::uint64_t generic_frames() const { return generic_frames_; }

  private:
    bool wants(const BbHeader& header);
    BbFault sort(std::span<const std::uint8_t> bbframe);
    BbFault sort_generic(std::span<const std::uint8_t> bbframe, const BbHeader& header, std::uint8_t stream);
    PacketExtractor& extractor_of(StreamType type, std::uint8_t stream);
    void give_out(StreamType type, std::uint8_t stream);
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
};

}  // namespace tidemill::dvbs2
