#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tidemill/io/live/live_source.hpp"

namespace tidemill::io {

/// Settings of a radio.
struct RadioSettings {
    double frequency_hz = 0;
    double sample_rate_hz = 0;
    std::optional<double> gain_db{};  ///< none: the radio chooses
    bool digital_agc = false;
    int correction_ppm = 0;
    bool bias_tee = false;
    std::string antenna{};                                        ///< empty: the radio chooses
    std::vector<std::pair<std::string, std::string>> settings{};  ///< of the radio's module, key and value
};

/// Whether a place names a server of rtl_tcp's protocol: "rtl_tcp://host:port", the port 1234 where it names
/// none.
bool is_rtl_tcp(const std::filesystem::path& place);

struct LiveRequest;

/// A radio that such a server hands out: its begin() reads the server's greeting and sends the settings; what
/// comes then are 8-bit unsigned samples (cu8). Throws IoError, as begin() does for another server and where
/// a setting does not fit the protocol, and reading where the server stands still: a radio never does.
std::unique_ptr<LiveSource> open_rtl_tcp(const LiveRequest& request);

}  // namespace tidemill::io
