#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tidemill/apps/running/radio_plan.hpp"
#include "tidemill/apps/running/watched_run.hpp"
#include "tidemill/dsp/sample_format.hpp"
#include "tidemill/dvbs2/standard/modcod.hpp"
#include "tidemill/runtime/report/report.hpp"

namespace tidemill::cli {

/// Filling of a signal without data.
enum class Idle { null_packets, dummy_frames };

/// The data that are sent.
struct TxDataOptions {
    std::string input;                      ///< a path, "-", "udp://host:port", "rtp://host:port"
    std::vector<std::string> streams;       ///< several of these, each as NUMBER=INPUT
    std::optional<std::uint64_t> random{};  ///< so many random packets instead
    std::uint64_t repeat = 1;
    std::uint64_t seed = 1;
    std::optional<double> input_rate_mbps{};  ///< none: as the signal needs them
    Idle idle = Idle::null_packets;
    std::optional<int> generic_bytes{};  ///< packets of a generic stream, 0 for a continuous one; none: TS
    int sync_byte = 0x47;                ///< of generic packets
    bool delete_nulls = false;           ///< of transport streams: counted, not sent
    int issy_bytes = 0;                  ///< 2 or 3: each packet carries its time
};

/// The signal that carries it.
struct TxSignalOptions {
    std::string plan;  ///< frame by frame; empty: all of `modcod`
    int modcod = 7;    ///< QPSK 3/4
    dvbs2::FrameSize frame = dvbs2::FrameSize::normal;
    bool pilots = false;
    double rolloff = 0.20;
    int gold_code = 0;
    int samples_per_symbol = 2;
    double symbol_rate_hz = 1e6;
    std::optional<double> sample_rate_hz{};  ///< a whole multiple of it; none: as samples_per_symbol says
    std::optional<double> most_seconds{};    ///< of signal; none: to the end of the inputs
    std::uint64_t burst_frames = 0;          ///< of frames that are sent together; 0: all
    double burst_every_s = 0;                ///< from the beginning of one burst to that of the next
};

/// The places that the samples go to.
struct TxOutputOptions {
    std::string place;
    RadioOptions radio{};
    std::optional<dsp::SampleFormat> format{};  ///< none: by the output's name
    double level_dbfs = -12;
};

/// All options of `tidemill dvbs2 tx`. Parts of a transmission take their groups, never the whole.
struct TxOptions {
    TxDataOptions data;
    TxSignalOptions signal;
    TxOutputOptions output;
    std::string packets_output;  ///< for what was taken from the inputs; empty: none
    bool stats = false;
    bool json = false;
    RunningOptions running{.how = {.executor = ExecutorKind::automatic}};
};

/// Result of a transmission.
struct TxOutcome {
    std::uint64_t bytes = 0;  ///< of the inputs
    std::uint64_t bytes_left_out = 0;
    std::vector<std::string> remarks{};  ///< what was wrong with what came
    std::uint64_t frames = 0;
    std::uint64_t dummy_frames = 0;
    std::uint64_t null_packets = 0;          ///< added to fill frames
    std::uint64_t null_packets_deleted = 0;  ///< of the inputs
    std::uint64_t bursts = 0;                ///< that silence followed
    std::uint64_t samples = 0;
    std::uint64_t limited_samples = 0;
    bool is_live = false;
    std::uint64_t underflows = 0;  ///< of a radio
    double duration_s = 0;
    ExecutorKind executor = ExecutorKind::sequence;
    RunAccount account{};
    RunReport run{};
};

/// Sends to the end of the inputs, the time asked for, or an interrupt. Throws io::IoError for an input,
/// JobFailed for an output, WrongUsage for settings that cannot be.
TxOutcome transmit(const TxOptions& options);

}  // namespace tidemill::cli
