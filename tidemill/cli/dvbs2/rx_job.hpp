#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tidemill/cli/adapting.hpp"
#include "tidemill/cli/dvbs2/reception.hpp"
#include "tidemill/cli/dvbs2/rx_outputs.hpp"
#include "tidemill/cli/insight.hpp"

namespace tidemill::cli {

/// `tidemill dvbs2 rx`, as the command line says it.
struct RxOptions {
    ReceptionOptions reception;
    RxOutputOptions outputs;
    std::string status;    ///< file for a line of JSON each second, "-" for standard output; empty: none
    std::string cores;     ///< for the automatic schedule; empty: all
    std::string schedule;  ///< schedule file; empty: make one from a profile
    std::string executor = "pipeline";
    std::string policy = "gpriority";  ///< of --executor dynamic
    double profile_s = 1.0;
    AdaptOptions adapt{};
    std::string energy_meter = "auto";  ///< as find_energy_meter() reads it
    InsightOptions insight{};
    bool json = false;
};

/// What was received, and how.
struct RxOutcome {
    ReceptionJob job;
    std::optional<ReceptionProfile> profile;
    std::string executor;
    std::optional<Schedule> schedule;
    std::optional<double> predicted_mbps;
    std::optional<double> predicted_period_us;
    RunReport run;
    std::vector<AdaptationChange> changes;  ///< of the schedule, on the way
    dvbs2::FrameTotals totals;
    dvbs2::FrameSyncCounts sync;
    dvbs2::PacketCounts packets;
    std::array<std::uint64_t, dvbs2::StreamSorter::kFaults> frames_by_fault{};
    std::map<std::uint8_t, std::uint64_t> frames_of_streams;  ///< by input stream, where there are several
    std::uint64_t generic_frames = 0;
    std::vector<int> programmes;
    std::uint64_t continuity_errors = 0;
    dsp::SampleDefects defects;
    std::uint64_t samples = 0;
    std::uint64_t missing_samples = 0;
    std::uint64_t blocks_without_signal = 0;
    std::uint64_t blocks_without_clock = 0;
    double clock_ppm = 0;
    double iq_offset_db = 0;  // taken out of I and Q, as RxCoarse tells
    double iq_image_db = 0;
    double frequency_hz = 0;  ///< of the carrier in the recording
    bool signal_seen = false;
    bool interrupted = false;
    std::string output;

    double symbol_rate_hz() const;
    bool received() const { return totals.frames > totals.frames_bad && !only_unsupported(); }
    /// Frames came, but carry what cannot be given out.
    bool only_unsupported() const {
        return packets.frames_unsupported > 0 && packets.packets == 0 && generic_frames == 0;
    }
};

/// Receives: profiles and schedules unless told how, runs, and keeps the accounts.
RxOutcome receive(const RxOptions& options);

/// The outcome in words and tables.
std::string report_text(const RxOutcome& outcome);

/// The outcome as one JSON object.
std::string report_json(const RxOutcome& outcome);

/// Why nothing came out, and what to try.
std::string failure_text(const RxOutcome& outcome);

}  // namespace tidemill::cli
