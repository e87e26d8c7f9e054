#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "tidemill/io/live/live_source.hpp"
#include "tidemill/io/live/rtl_tcp.hpp"

namespace tidemill::io {

/// Demands on a live source.
struct LiveRequest {
    std::string place;
    std::optional<dsp::SampleFormat> format{};
    std::optional<double> sample_rate_hz{};
    RadioSettings radio{};  ///< of a kind that is a radio
    bool reopens = false;   ///< a connection that breaks off is no end: it is made again
};

/// A kind of place from which samples come as they may.
struct LiveKind {
    std::string_view form;  ///< how such a place is written
    bool is_radio;          ///< is tuned, and takes RadioSettings
    bool has_modules;       ///< of which antennas and settings are asked for
    bool tells_format;      ///< of its samples; else somebody has to
    bool tells_rate;        ///< the same
    bool is_lossy;          ///< what nobody takes in time is lost anyway; else the other end waits
    bool (*names)(const std::string& place);
    std::unique_ptr<LiveSource> (*open)(const LiveRequest& request);  ///< throws IoError
};

std::span<const LiveKind> live_kinds();

/// Null for a file.
const LiveKind* live_kind_of(const std::string& place);

}  // namespace tidemill::io
