#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tidemill/dsp/sample_format.hpp"

namespace tidemill::cli {

/// What `tidemill dvbs2 tx` was asked for.
struct TxOptions {
    std::string input;                 ///< a path, "-", "udp://host:port"
    std::vector<std::string> streams;  ///< several of these, each as NUMBER=INPUT
    std::uint64_t random = 0;          ///< random packets instead
    std::uint64_t repeat = 1;
    std::uint64_t seed = 1;
    double input_rate_mbps = 0;  ///< 0: as the signal needs them
    std::string idle = "null";   ///< what fills a signal without data: "null" packets or "dummy" frames
    int generic_bytes = -1;  ///< packets of a generic stream, 0 for a continuous one; -1: transport streams
    int sync_byte = 0x47;    ///< of generic packets
    bool delete_nulls = false;  ///< of transport streams: counted, not sent
    std::string issy = "none";  ///< "short" or "long": each packet tells when it came
    std::string plan;           ///< frame by frame; empty: all of `modcod`
    std::string modcod = "QPSK 3/4";
    std::string frame = "normal";
    bool pilots = false;
    double rolloff = 0.20;
    int gold_code = 0;
    int samples_per_symbol = 2;
    double symbol_rate_hz = 1e6;
    double most_seconds = 0;  ///< of signal; 0: to the end of the inputs
    std::string output;
    std::string packets_output;
    std::optional<dsp::SampleFormat> format;  ///< none: by the output's name
    double level_dbfs = -12;
    bool json = false;
};

/// What was sent.
struct TxOutcome {
    std::uint64_t bytes = 0;  ///< of the inputs
    std::uint64_t bytes_left_out = 0;
    std::uint64_t frames = 0;
    std::uint64_t dummy_frames = 0;
    std::uint64_t null_packets = 0;          ///< added to fill frames
    std::uint64_t null_packets_deleted = 0;  ///< of the inputs
    std::uint64_t samples = 0;
    std::uint64_t limited_samples = 0;
    double duration_s = 0;
};

/// Sends to the end of the inputs, the time asked for, or an interrupt. Throws io::IoError for an input,
/// JobFailed for an output, WrongUsage for settings that cannot be.
TxOutcome transmit(const TxOptions& options);

}  // namespace tidemill::cli
