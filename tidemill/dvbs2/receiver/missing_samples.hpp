#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "tidemill/dvbs2/receiver/reception_report.hpp"
#include "tidemill/dvbs2/sync/frame_info.hpp"

namespace tidemill::dvbs2 {

/// Rates of the samples that are received: of those that were taken, before any tuner.
struct SampleRates {
    double symbol_rate_hz = 1;
    double samples_per_symbol = 2;
};

/// The account of samples that are missing. Frames show it modulo a frame; clocks inside the streams, which
/// run on at the sender's, show how many whole frames are missing besides.
class MissingAccount {
  public:
    explicit MissingAccount(const SampleRates& rates) : rates_(rates) {}

    /// A frame comes; its packets, if there are any, follow.
    void begin_frame(const FrameInfo& info);
    /// Packets of a transport stream that the frame completes: their programme clocks are read.
    void read_clocks(std::span<const std::uint8_t> packets, std::uint8_t stream);
    /// The sender's symbol counter at the last packet that the frame completes, 22 bits.
    void read_counter(std::uint32_t symbols, std::uint8_t stream);

    const MissingSamples& tally() const { return tally_; }

    /// Writes its state into a checkpoint, or reads it from one.
    template <class Archive>
    void keep(Archive& archive) {
        archive("tally", tally_)("gaps", gaps_)("readings", readings_)("frame_at", frame_at_)("frame_symbols",
                                                                                              frame_symbols_);
    }

  private:
    /// Where a clock in a stream stood.
    struct Reading {
        std::uint64_t clock = 0;  // which
        double turn = 0;          // symbols after which it begins anew
        double symbols = 0;
        double at = 0;
    };

    void keep_reading(const Reading& reading);
    void compare(const Reading& reading);
    void settle(const Reading& before, const Reading& behind);
    void count(const MissingSymbols& gap);
    void keep_latest(const MissingSymbols& gap);
    void know_frames(std::span<const MissingSymbols> gaps, double frames);

    SampleRates rates_;
    MissingSamples tally_;
    std::vector<MissingSymbols> gaps_;  // beside which whole frames may be missing
    std::deque<Reading> readings_;      // the latest ones
    double frame_at_ = 0;
    double frame_symbols_ = 0;
};

}  // namespace tidemill::dvbs2
