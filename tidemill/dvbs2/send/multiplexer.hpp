#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "tidemill/dsp/iq.hpp"
#include "tidemill/dvbs2/send/frame_modulator.hpp"
#include "tidemill/dvbs2/standard/modcod.hpp"
#include "tidemill/dvbs2/streams/stream_slicer.hpp"
#include "tidemill/io/transport/ts_packet.hpp"

namespace tidemill::dvbs2 {

/// Content and name of one input stream.
struct InputStream {
    StreamType type = StreamType::transport;
    std::uint8_t number = 0;                        ///< ISI; only sent when there are several streams
    std::size_t packet_bytes = io::kTsPacketBytes;  ///< sync byte included; 0 for a continuous stream
    std::uint8_t sync = io::kTsSyncByte;
    bool delete_null_packets = false;  ///< of a transport stream: counted, not sent (EN 302 307-1, D.3)
    std::size_t issy_bytes = 0;        ///< behind each packet when it came: 0, 2 (short) or 3 (long; D.2)
    double packet_period_symbols = 0;  ///< from packet to packet as they come; 0: as the plan takes them
};

/// One frame of a plan.
struct PlannedFrame {
    Pls pls;  ///< MODCOD 0: a dummy frame
    std::optional<std::size_t>
        stream{};  ///< place of the stream whose data it takes; they take turns unless given
};

struct MultiplexerConfig {
    std::vector<PlannedFrame> plan;  ///< sent frame by frame, from the first again after the last
    std::vector<InputStream> streams{InputStream{}};
    int gold_code = 0;
    double rolloff = 0.20;  ///< 0.35, 0.25 or 0.20, as the BBHEADER can say
};

/// A frame that is to be sent.
struct OutgoingFrame {
    Pls pls{};                                ///< MODCOD 0: a dummy frame
    std::span<const std::uint8_t> bbframe{};  ///< not yet scrambled; none of a dummy frame
};

/// Counts of a Multiplexer so far.
struct MultiplexerCounts {
    std::uint64_t frames = 0;  // with data
    std::uint64_t dummy_frames = 0;
    std::uint64_t null_packets = 0;          // added to fill frames
    std::uint64_t null_packets_deleted = 0;  // of the inputs
};

/// Makes PLFRAMEs of one or several input streams by a plan of MODCODs: CCM when the plan has only one, VCM
/// otherwise (EN 302 307-1, 5.1).
class Multiplexer {
  public:
    /// Throws Dvbs2Error, saying why, for what cannot be sent.
    explicit Multiplexer(const MultiplexerConfig& config);

    /// Takes data of one stream: whole packets, or any bytes of a continuous one. Throws
    /// Dvbs2Error for packets without their sync byte.
    void feed(std::size_t stream, std::span<const std::uint8_t> data);

    /// The place of the stream that the next frame takes its data from; none for a planned dummy frame.
    std::optional<std::size_t> next_stream() const;

    /// Bytes that this stream lacks to fill the next frame.
    std::size_t missing_bytes() const;

    /// The next frame, whose data are valid until another is asked for; none, and nothing done, when its
    /// stream does not fill it.
    std::optional<OutgoingFrame> next();

    /// The same, but null packets fill what the transport stream lacks; not for one that deletes them.
    OutgoingFrame next_with_null_packets();

    /// The same, but padding fills what the stream lacks: how a stream ends. None, and nothing done, when it
    /// has nothing at all.
    std::optional<OutgoingFrame> next_padded();

    /// A dummy frame; the planned one stays next.
    OutgoingFrame dummy();

    /// The symbols of a frame, as many as its layout has. Any thread may ask, while another goes on.
    void modulate(const OutgoingFrame& frame, std::span<dsp::Iq> plframe) const;

    /// The same with symbols, which are appended; false where there is no frame.
    bool send(std::vector<dsp::Iq>& symbols) { return append(next(), symbols); }
    void send_with_null_packets(std::vector<dsp::Iq>& symbols) { append(next_with_null_packets(), symbols); }
    bool send_padded(std::vector<dsp::Iq>& symbols) { return append(next_padded(), symbols); }
    void send_dummy(std::vector<dsp::Iq>& symbols) { append(dummy(), symbols); }

    /// The planned frame is left out.
    void skip();

    const FrameModulator& modulator(const Pls& pls) const { return modulators_.at(pls.code()); }
    /// Symbols of the longest frame that may be sent.
    std::size_t most_symbols() const;
    MultiplexerCounts counts() const;

  private:
    const PlannedFrame& planned() const { return plan_[position_]; }
    std::size_t stream() const { return planned().stream.value_or(turn_); }
    double planned_symbols_per_byte(std::size_t stream, std::size_t streams) const;
    std::span<std::uint8_t> bbframe_of_planned();
    OutgoingFrame sent();
    bool append(const std::optional<OutgoingFrame>& frame, std::vector<dsp::Iq>& symbols) const;

    std::vector<PlannedFrame> plan_;
    std::vector<StreamSlicer> slicers_;
    std::map<int, FrameModulator> modulators_;  // by PLS code
    PlScrambler scrambler_;
    std::vector<std::uint8_t> bbframe_;
    std::size_t position_ = 0;  // of the next frame in the plan
    std::size_t turn_ = 0;      // of the streams, for frames that name none
    MultiplexerCounts counts_;
};

}  // namespace tidemill::dvbs2
