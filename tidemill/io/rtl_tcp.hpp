#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "tidemill/io/input_stream.hpp"

namespace tidemill::io {

/// What a radio is set to.
struct RadioSettings {
    double frequency_hz = 0;
    double sample_rate_hz = 0;
    std::optional<double> gain_db{};  ///< none: the radio chooses
    bool digital_agc = false;
    int correction_ppm = 0;
    bool bias_tee = false;
};

/// Whether a path names a server of rtl_tcp's protocol: "rtl_tcp://host:port", the port 1234 where it names
/// none.
bool is_rtl_tcp(const std::filesystem::path& path);

/// Sets up a radio that such a server hands out on a connection: reads the server's greeting,
/// tells the settings. What comes then are 8-bit unsigned samples (cu8). False where the stream ended
/// before anybody greeted. Throws IoError for another server, and where a setting does not fit the protocol.
bool set_up_rtl_tcp(InputStream& connection, const RadioSettings& settings);

}  // namespace tidemill::io
