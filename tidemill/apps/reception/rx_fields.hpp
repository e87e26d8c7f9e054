#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tidemill/apps/reception/observed_gap.hpp"
#include "tidemill/base/json.hpp"
#include "tidemill/dvbs2/receiver/reception_report.hpp"
#include "tidemill/io/live/sample_ring.hpp"
#include "tidemill/io/transport/ts_monitor.hpp"

namespace tidemill::cli {

struct RxOutcome;

/// Facts of the transport stream in a reception.
struct TransportState {
    std::uint64_t packets = 0;
    std::vector<int> programmes{};
    std::uint64_t continuity_errors = 0;
};

TransportState seen_by(const io::TsMonitor& monitor);

/// How well a live input's samples are kept up with.
struct RingState {
    bool loses = false;           ///< what finds the ring full; else the source waits
    double holds_s = 0;           ///< seconds of samples that it has room for
    double waiting_s = 0;         ///< samples in it, in seconds of them
    double least_room_s = 0;      ///< the least that was left in it
    std::uint64_t gaps = 0;       ///< overflows of the radio and of the ring
    std::uint64_t samples = 0;    ///< that are missing therefore
    std::uint64_t estimated = 0;  ///< of these, by the clock on the wall
    double silent_s = 0;          ///< for which nothing has come
    std::string trouble{};        ///< of the input, in words; empty: none
    std::vector<ObservedGap> latest_gaps{};
};

/// None for a file. What frames show of its gaps corrects their report.
std::optional<RingState> seen_by(const io::SampleRing* ring, const dvbs2::MissingSamples& missing);

/// A reception as one place shows it: the whole of it in a report, a second of it in a line of --status.
struct RxView {
    dvbs2::ReceptionNow now;
    TransportState ts{};
    std::optional<RingState> ring{};
    std::optional<dvbs2::Pls> pls{};  ///< of most frames, or of the last one
    double esn0_db = 0;               ///< in the mean, or of the last frame
    double info_mbps = 0;
    std::uint64_t frames = 0;  ///< since the start, or since the line before; the following ones too
    std::uint64_t frames_bad = 0;
    std::uint64_t ldpc_iterations = 0;
    std::uint64_t corrected_bits = 0;
    double time_s = 0;                 ///< the place in a recording; of a live input since the start
    double frame_s = 0;                ///< of the last frame: a recording may be read far ahead of it
    const RxOutcome* whole = nullptr;  ///< of a report

    /// Whether nothing comes any more: what was known of the signal is past.
    bool stands_still() const { return ring && ring->silent_s >= kStandstill_s; }

  private:
    static constexpr double kStandstill_s = 1;
};

/// A line of --status.
Json status_json(const RxView& view);

/// The fields of a report; those of losses in an object of their own.
Json fields_json(const RxView& view);

/// The same for people: a line of a few fields each.
std::string fields_text(const RxView& view);

/// Disturbances of the signal, lost or not: "pulses: 1.1 % of the samples blanked, tone at +52.5 kHz". Empty
/// where that is nothing.
std::string disturbances(const RxView& view);

/// The same as a line of a report; empty where it is nothing.
std::string disturbed_line(const RxView& view);

/// "searching" (for a signal), "acquiring" (its lock) or "locked".
const char* phase_of(const dvbs2::ReceptionNow& now);

}  // namespace tidemill::cli
