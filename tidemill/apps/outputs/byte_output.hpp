#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "tidemill/io/network/tcp_broadcaster.hpp"

namespace tidemill::cli {

/// Where an output is in its files: in which part of several, and behind how many bytes.
struct OutputAt {
    std::string part{};
    std::uint64_t bytes = 0;
};

/// When the packets of a frame came, by the signal's own clock: seconds since it began, and how long the
/// frame lasts.
struct SignalTime {
    double from_s = 0;
    double lasts_s = 0;
    double waiting_s = 0;  ///< how much of the signal waits behind it to be handed over
};

/// Data that an output did not take, while it worked or was tried again.
struct OutputLosses {
    std::uint64_t bytes = 0;
    std::uint64_t outages = 0;      ///< times that it failed and was tried again
    std::uint64_t refused = 0;      ///< datagrams that came to nobody, as the network answers
    io::BroadcastCounts clients{};  ///< of a place that many may read
};

/// A place for bytes of one kind.
class ByteOutput {
  public:
    virtual ~ByteOutput() = default;

    /// Time of the data that are written next.
    virtual void came_at(const SignalTime& /*time*/) {}
    /// Appends a piece, which stays whole. Throws IoError when the place has failed, and from then on.
    virtual void write(std::span<const std::uint8_t> piece) = 0;
    /// Hands over what is kept back, as far as that is soon done.
    virtual void flush() {}
    /// Everything is handed over; throws IoError unless it arrived.
    virtual void close() = 0;
    /// Whether write() may wait for the reader there.
    virtual bool may_wait() const { return true; }
    /// From any thread: ends a wait in write() by an exception, if this output can.
    virtual void end() noexcept {}

    /// Data that have been handed over, where they are kept; a file goes on there, what was sent is gone.
    virtual OutputAt at() const { return {}; }
    virtual void go_on_at(const OutputAt& /*at*/) {}

    /// While it works.
    virtual OutputLosses losses() const { return {}; }
    /// Taken and not handed over: lost when the place has failed. With the piece at which it did.
    virtual std::uint64_t bytes_kept_back() const { return 0; }
};

}  // namespace tidemill::cli
