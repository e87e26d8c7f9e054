#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "tidemill/io/transport/ts_packet.hpp"

namespace tidemill::cli {

/// Bytes to send, as they come. All sizes are whole units: packets, or single bytes of a continuous stream.
class TxInput {
  public:
    virtual ~TxInput() = default;

    /// At most `most_bytes` that are there when the signal has lasted `signal_s`; fewer mean that no more are
    /// there yet, or ever. Valid until the next call. Throws io::IoError.
    virtual std::span<const std::uint8_t> take(std::size_t most_bytes, double signal_s) = 0;

    /// Nothing will come any more.
    virtual bool ended() const = 0;

    /// Whether a taker may have to wait for something outside the program.
    virtual bool may_wait() const { return false; }

    /// Whether data come by a clock of their own, which the signal must keep up with.
    virtual bool is_live() const { return false; }

    /// From another thread: ends a wait for data.
    virtual void end() noexcept {}

    /// Bytes that came and could not be sent: a part of a packet, or more than fits in the signal.
    virtual std::uint64_t bytes_left_out() const { return 0; }

    /// Faults of the input so far, in words; empty: none.
    virtual std::string remark() const { return {}; }
};

struct TxInputOptions {
    std::size_t unit_bytes = io::kTsPacketBytes;
    std::uint8_t sync = io::kTsSyncByte;  ///< with which each of several bytes begins
    std::uint64_t repeat = 1;             ///< how often a file is sent
    /// At which a file or standard input arrives, by the signal's clock; none: at once.
    std::optional<double> rate_mbps{};
};

/// A path (of a file or a named pipe), "-" for standard input, or "udp://host:port" or "rtp://host:port" to
/// listen at. What begins with no sync byte is left out, and counted. Throws io::IoError or WrongUsage.
std::unique_ptr<TxInput> open_tx_input(const std::string& place, const TxInputOptions& options);

/// `packets` transport stream packets with random payload.
std::unique_ptr<TxInput> random_tx_input(std::uint64_t packets, std::uint64_t seed,
                                         const TxInputOptions& options);

/// Units that begin with `sync`, the rest of them random bytes, without end.
std::unique_ptr<TxInput> endless_tx_input(std::size_t unit_bytes, std::uint8_t sync);

}  // namespace tidemill::cli
