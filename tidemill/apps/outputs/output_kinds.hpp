#pragma once

#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "tidemill/apps/outputs/byte_output.hpp"
#include "tidemill/io/network/udp_sender.hpp"
#include "tidemill/io/transport/rolling_writer.hpp"

namespace tidemill::cli {

/// How places are written to.
struct OutputStyle {
    double network_mbps = 0;                      ///< 0: packets leave by the signal's clock
    bool paced = true;                            ///< false: packets leave for the network as they come
    bool live = false;                            ///< the input sets the pace: nothing is kept back
    io::WhenFull when_full = io::WhenFull::wait;  ///< what a place that takes nothing for now costs
    std::stop_token hurry{};                      ///< from then on packets leave as they come
    io::RollLimits roll{};                        ///< of files
};

/// Whether a place is on the network, and not a file.
bool is_network_output(const std::string& place);

/// Opens a place for packets or, with `pieces`, for other data than a transport stream. Throws JobFailed or
/// WrongUsage.
std::unique_ptr<ByteOutput> open_output(const std::string& place, const OutputStyle& style, bool pieces);

/// The place of one input stream when all are wanted: video.ts becomes video.isi7.ts, a port 1234 becomes
/// 1241. Nothing where there is no such port.
std::optional<std::string> place_of_stream(const std::string& place, int stream);

/// Reads what --roll says: a time like 1h or a size like 500MB. Throws WrongUsage.
io::RollLimits parse_roll(const std::string& text);

}  // namespace tidemill::cli
