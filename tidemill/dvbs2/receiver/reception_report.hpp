#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "tidemill/dvbs2/standard/bb_header.hpp"
#include "tidemill/dvbs2/standard/modcod.hpp"
#include "tidemill/dvbs2/streams/stream_outputs.hpp"
#include "tidemill/dvbs2/sync/frame_info.hpp"

namespace tidemill::dvbs2 {

/// Evidence of the frames on one place at which samples are missing.
struct GapByFrames {
    double before_s = 0;  ///< where the last frame before it begins, in the time of the samples received,
    double behind_s = 0;  ///< and the first one behind it
    double samples = 0;   ///< missing, modulo a frame
    double frame_samples = 0;  ///< of that
    std::int64_t frames = 0;   ///< whole ones that are missing besides, by a clock in the stream; -1: there
                               ///< are as many samples too many as it takes to a frame
    std::uint64_t frames_known = 0;  ///< whether that is known

    friend bool operator==(const GapByFrames&, const GapByFrames&) = default;
};

/// Samples that are missing among those received, as the frames and the streams' clocks show; what a radio or
/// a network says by itself is not among them.
struct MissingSamples {
    static constexpr std::size_t kMostLatest = 16;

    std::uint64_t gaps = 0;           ///< places at which some are missing
    std::uint64_t gaps_at_least = 0;  ///< of these, at which whole frames may be missing besides
    std::uint64_t samples = 0;        ///< in all
    double last_s = 0;                ///< the last place, in the time of the samples received
    /// The latest places, also those at which a signal may as well have ended and begun, which are not
    /// counted above: what begins at `latest_begin` is the earliest one, and all zeros count for none.
    std::array<GapByFrames, kMostLatest> latest{};
    std::uint64_t latest_begin = 0;

    friend bool operator==(const MissingSamples&, const MissingSamples&) = default;
};

/// The longest stretch of a signal in which its symbol clock was not found, in the time of the samples.
struct Clockless {
    double begin_s = 0;
    double seconds = 0;
};

/// Totals of the frames.
struct FrameTotals {
    std::uint64_t frames = 0;       ///< that reached the decoder
    std::uint64_t frames_bad = 0;   ///< that it could not correct
    std::uint64_t frames_weak = 0;  ///< of these, with about as much Es/N0 as their MODCOD needs, or less
    float weakest_esn0_db = 0;      ///< and the least that one of them had
    std::uint64_t info_bits = 0;    ///< data-field bits of the good ones
    std::uint64_t first_bits = 0;   ///< of these, the first frame's: the clock starts when it is done
    std::uint64_t ldpc_iterations = 0;
    std::uint64_t corrected_bits = 0;  ///< by the outer code
    double noise_to_signal = 0;        ///< N0/Es, added up over the good frames
    double front_frequency = 0;        ///< taken out of the last good frame by the front; cycles per symbol
    double frequency = 0;              ///< left in it, upright,
    double drift = 0;                  ///< with its drift, cycles per symbol squared
    double largest_drift = 0;          ///< by magnitude, by LargestDrift
    bool inverted = false;
    std::array<std::uint64_t, 128> frames_of_pls{};  ///< by PLS code
    std::uint64_t symbols_before = 0;                ///< symbols heard before the first good frame
    std::uint64_t first_tick = 0;                    ///< when the first good frame was done
    std::uint64_t last_tick = 0;                     ///< when the last one was
    std::optional<Pls> last_pls{};                   ///< of the last frame
    double end_s = 0;                                ///< of it, seconds of the signal since the start
    float last_esn0_db = 0;                          ///< of the last frame, good or not
    MissingSamples missing{};

    std::uint64_t frames_good() const { return frames - frames_bad; }
    /// Mean Es/N0 of the good frames.
    double esn0_db() const;
    /// Information rate from the first good frame to the last.
    double info_mbps() const;
    /// The PLS code most frames had; nothing before the first good one.
    std::optional<Pls> usual_pls() const;
    /// Frames' worth of symbols heard before the first good one.
    std::uint64_t lock_frames() const;
};

/// State of a receiver at a moment: may be asked for while it runs.
struct ReceptionNow {
    bool found = false;       ///< a signal is there
    bool locked = false;      ///< frames follow one another
    std::uint64_t locks = 0;  ///< times that frames were found, the first included
    FrameTotals totals;
    double symbol_rate_hz = 0;
    double frequency_hz = 0;            ///< of the carrier in the recording
    double drift_hz_per_s = 0;          ///< of it; 0: none that need be followed
    double largest_drift_hz_per_s = 0;  ///< that it had, by magnitude
    double clock_ppm = 0;               ///< offset of the transmitter's symbol clock
    double iq_offset_db = 0;            ///< taken out of I and Q, by RxCoarse
    double iq_image_db = 0;
    std::uint64_t samples_clipped = 0;
    std::uint64_t samples_blanked = 0;   ///< zeroed, because pulses had hit them,
    double blanked_share = 0;            ///< of those in which there was a signal
    std::uint64_t frames_hurried = 0;    ///< whose finer decoding was left out: time was short
    std::uint64_t frames_equalised = 0;  ///< against echoes, of which the strongest is now
    double echo_symbols = 0;             ///< so late; 0: never
    double echo_db = 0;                  ///< and so strong, over the direct way
    Clockless clockless{};
    std::vector<double> tones_hz{};  ///< taken out, where they are in the recording; in a report: last
};

/// Account of a reception: each part's in one place.
struct ReceptionReport : ReceptionNow {
    FrameSyncCounts sync;
    PacketCounts packets;
    std::array<std::uint64_t, kBbFaults> frames_by_fault{};
    std::map<std::uint8_t, std::uint64_t> frames_of_streams;  ///< by input stream, where there are several
    std::uint64_t generic_frames = 0;  ///< of generic streams, and bytes that they carried
    std::uint64_t generic_bytes = 0;
    std::uint64_t samples = 0;
    std::uint64_t samples_not_finite = 0;
    std::uint64_t blocks_without_signal = 0;
    std::uint64_t blocks_without_clock = 0;
};

}  // namespace tidemill::dvbs2
