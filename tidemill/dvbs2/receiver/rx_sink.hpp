#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "tidemill/dvbs2/carrier/noise.hpp"
#include "tidemill/dvbs2/receiver/rx_decode.hpp"
#include "tidemill/dvbs2/streams/stream_sorter.hpp"
#include "tidemill/graph/module.hpp"

namespace tidemill::dvbs2 {

/// What came of the frames, added up.
struct FrameTotals {
    std::uint64_t frames = 0;      ///< that reached the decoder
    std::uint64_t frames_bad = 0;  ///< that it could not correct
    std::uint64_t info_bits = 0;   ///< data-field bits of the good ones
    std::uint64_t first_bits = 0;  ///< of these, the first frame's: the clock starts when it is done
    std::uint64_t ldpc_iterations = 0;
    std::uint64_t corrected_bits = 0;  ///< by the outer code
    double noise_to_signal = 0;        ///< N0/Es, added up over the good frames
    double frequency = 0;  ///< left in the last good frame, upright, by the front; cycles per symbol
    bool inverted = false;
    std::array<std::uint64_t, 128> frames_of_pls{};  ///< by PLS code
    std::uint64_t symbols_before = 0;                ///< symbols heard before the first good frame
    std::uint64_t first_tick = 0;                    ///< when the first good frame was done
    std::uint64_t last_tick = 0;                     ///< when the last one was

    /// Mean Es/N0 of the good frames.
    double esn0_db() const;
    /// Information rate from the first good frame to the last.
    double info_mbps() const;
    /// The PLS code most frames had.
    Pls usual_pls() const;
};

/// A BBFRAME as it left the decoder.
struct ReceivedFrame {
    const FrameInfo& info;
    const SignalQuality& quality;
    const fec::LdpcResult& ldpc;
    std::span<const std::uint8_t> bbframe;  ///< packed, descrambled
    bool good;                              ///< false: more errors than the outer code corrects
};

/// Where what was received goes; called by the one thread that runs the sink.
struct RxOutputs {
    StreamOutputs streams;
    std::function<void(const ReceivedFrame& frame)> frames{};  ///< every frame, also a bad one; may be empty
    StreamChoice choice{};
};

/// Joins the BBFRAMEs' data to transport stream packets, gives them out and keeps the accounts.
class RxSink final : public Module {
  public:
    explicit RxSink(RxOutputs outputs);

    In<std::uint8_t> codeword = in<std::uint8_t>("codeword", kMaxCodewordBytes);
    In<FrameInfo> info = in<FrameInfo>("info");
    In<std::uint8_t> gap = in<std::uint8_t>("gap");
    In<SignalQuality> quality = in<SignalQuality>("quality");
    In<fec::LdpcResult> ldpc = in<fec::LdpcResult>("ldpc");
    In<fec::BchResult> bch = in<fec::BchResult>("bch");
    Task write = task("write", &RxSink::write_frame);

    /// Gives out the packet that waits for the frame after the last.
    void finish();

    const FrameTotals& totals() const { return totals_; }
    /// The input streams and what became of their frames.
    const StreamSorter& streams() const { return streams_; }
    PacketCounts counts() const { return streams_.counts(); }

    /// What a progress line shows; may be read while the receiver runs.
    struct Live {
        std::atomic<std::uint64_t> frames{0};
        std::atomic<std::uint64_t> frames_bad{0};
        std::atomic<std::uint64_t> info_bits{0};
        std::atomic<std::uint64_t> ldpc_iterations{0};
        std::atomic<std::uint64_t> corrected_bits{0};
        std::array<std::atomic<std::uint64_t>, 128> frames_of_pls{};
        std::atomic<int> pls_code{-1};  ///< of the last frame; -1 before the first
        std::atomic<float> esn0_db{0};
        std::atomic<double> frequency{
            0};  ///< left by the front, as it lies in the recording; cycles per symbol
    };
    const Live& live() const { return live_; }

  private:
    void write_frame(Frame f);
    void account(Frame f, const fec::Dvbs2Code& code);
    void show(const Pls& pls);

    std::function<void(const ReceivedFrame&)> frames_;
    StreamSorter streams_;
    FrameTotals totals_;
    Live live_;
};

}  // namespace tidemill::dvbs2
