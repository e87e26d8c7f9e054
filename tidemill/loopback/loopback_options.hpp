#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tidemill/base/error.hpp"
#include "tidemill/dvbs2/channel/channel.hpp"

namespace tidemill::loopback {

/// A request that a loopback cannot fulfil, or an air that cannot be used.
class LoopbackError : public Error {
  public:
    using Error::Error;
};

/// A stretch of the stream's time.
struct Stretch {
    double at_s = 0;
    double lasts_s = 0;

    bool holds(double time_s) const { return time_s >= at_s && time_s < at_s + lasts_s; }
};

/// Effects on a signal on its way, in hertz; a ChannelConfig counts in symbols.
struct LoopbackChannel {
    dvbs2::ChannelConfig config{};
    double symbol_rate_hz = 0;  ///< 0: half the sample rate
    double offset_hz = 0;
    double drift_hz_per_s = 0;
    double level_dbfs = -12;  ///< of what is sent, and of what comes back
    bool is_plain = true;     ///< nothing happens
};

/// Arguments of a loopback's device.
struct LoopbackOptions {
    std::string file{};           ///< a recording that is played; empty: what is sent comes back
    bool repeat = false;          ///< the recording, over and over; else silence comes behind it
    bool fast = false;            ///< as fast as samples are read; else by the clock on the wall
    bool has_times = true;        ///< of its samples
    std::string air = "default";  ///< programs with the same name hear each other
    double buffer_s = 0.1;        ///< of samples that nobody reads, or that are not sent yet
    double late_s = 0;            ///< by which the first sample comes later
    std::vector<Stretch> overflows{}, timeouts{}, unplugged{};
    LoopbackChannel channel{};
};

/// Reads the arguments, which may also hold others that are nothing to it; throws LoopbackError for a value
/// that cannot be, with what can.
LoopbackOptions parse_loopback(const std::map<std::string, std::string>& arguments);

/// The channel at a sample rate, where what is sent lies so far from the middle of what is received.
dvbs2::ChannelConfig channel_at(const LoopbackChannel& channel, double sample_rate_hz, double offset_hz);

}  // namespace tidemill::loopback
