#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>

#include "tidemill/dvbs2/receiver/rx_sink.hpp"
#include "tidemill/io/ts_monitor.hpp"

namespace tidemill::cli {

/// Which input streams of the signal are wanted; without a word the first that is seen.
struct WantedStreams {
    bool all = false;
    std::optional<std::uint8_t> only{};
};

/// Where `tidemill dvbs2 rx` puts what it receives. A place is a path, "-" for standard output,
/// "udp://host:port", or empty for none.
struct RxOutputOptions {
    std::string packets;   ///< transport stream
    std::string bbframes;  ///< good BBFRAMEs one behind the other, or one in a datagram
    std::string generic;   ///< data fields of generic streams
    WantedStreams streams{};
    dvbs2::DamagedPacket damaged = dvbs2::DamagedPacket::drop;
    double udp_mbps = 0;      ///< 0: packets leave by the programme clock
    bool paced = true;        ///< false: datagrams leave as they come
    std::stop_token hurry{};  ///< from then on datagrams leave as they come
    dvbs2::RxOutputs also{};  ///< is given packets and frames, too
    bool live = false;  ///< the input sets the pace: nothing is kept back, and datagrams leave as they come
};

/// Reads what --isi names: the number of a stream, or all. Throws WrongUsage.
WantedStreams parse_isi(const std::string& text);

/// A place for bytes of one kind.
class ByteOutput {
  public:
    virtual ~ByteOutput() = default;
    virtual void write(std::span<const std::uint8_t> bytes) = 0;
    virtual void close() = 0;
    /// A file keeps where it is, and goes on there; what was sent is gone.
    virtual void keep(Archive& /*archive*/) {}
};

/// Opens a place for packets or, with `datagrams`, for pieces that stay whole. Throws JobFailed or
/// WrongUsage.
std::unique_ptr<ByteOutput> open_output(const std::string& place, const RxOutputOptions& options,
                                        bool datagrams);

/// The place of one input stream when all are wanted: video.ts becomes video.isi7.ts, a port 1234 becomes
/// 1241. Nothing where there is no such port.
std::optional<std::string> place_of_stream(const std::string& place, int stream);

/// Opens what the options name, and hands each part of a reception to its place.
class RxOutputWriter {
  public:
    /// Throws JobFailed or WrongUsage.
    explicit RxOutputWriter(const RxOutputOptions& options);

    /// What the receiver calls; valid while the writer lives.
    dvbs2::RxOutputs outputs();

    /// What is still to come is not paced any more. From any thread.
    void hurry() { hurry_.request_stop(); }

    /// Everything is handed over; throws JobFailed unless it arrived.
    void close();

    /// Programmes and continuity of the first stream that came.
    const io::TsMonitor& monitor() const { return *monitor_; }

    /// Packets of input streams that have no place, by stream.
    const std::map<int, std::uint64_t>& not_sent() const { return not_sent_; }

  private:
    void keep(Archive& archive);
    void write_packets(std::span<const std::uint8_t> packets, std::uint8_t stream);
    ByteOutput* packet_output(int stream);

    std::stop_source hurry_;
    RxOutputOptions options_;
    dvbs2::StreamChoice choice_;
    std::unique_ptr<io::TsMonitor> monitor_ = std::make_unique<io::TsMonitor>();
    std::optional<std::uint8_t> monitored_;
    std::map<int, std::unique_ptr<ByteOutput>> packets_;  // by input stream when all are wanted, else one
    std::map<int, std::uint64_t> not_sent_;
    std::unique_ptr<ByteOutput> bbframes_;
    std::unique_ptr<ByteOutput> generic_;
};

}  // namespace tidemill::cli
