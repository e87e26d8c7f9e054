#pragma once

#include <cstdint>
#include <string>

#include "tidemill/options/result_table.hpp"

namespace tidemill::cli {

/// The receiver with the device of that id and without, by turns, on a recording of so many packets made for
/// it: normal frames of QPSK 3/4 near their threshold. What it predicts and what it comes to, and what it
/// says of the device. Throws JobFailed where a run fails, or its packets are not those that were sent.
ResultTable device_receiver_table(const std::string& device, std::uint64_t packets);

}  // namespace tidemill::cli
