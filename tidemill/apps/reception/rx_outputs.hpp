#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "tidemill/apps/outputs/ip_outputs.hpp"
#include "tidemill/apps/outputs/output_fan.hpp"
#include "tidemill/apps/outputs/output_kinds.hpp"
#include "tidemill/dvbs2/receiver/rx_sink.hpp"
#include "tidemill/io/transport/ts_monitor.hpp"

namespace tidemill::cli {

/// Input streams of the signal that are wanted; by default the first that is seen.
struct StreamSelection {
    bool all = false;
    std::optional<std::uint8_t> only{};
};

/// Where `tidemill dvbs2 rx` puts what it receives. A place is a path, "-" for standard output,
/// "udp://host:port" or another of open_output().
struct RxOutputOptions {
    std::vector<std::string> packets{};  ///< transport stream, to each of these
    std::string bbframes{};              ///< good BBFRAMEs one behind the other, or one in a datagram
    std::string generic{};               ///< data fields of generic streams
    IpOptions ip{};                      ///< IP packets in either kind of stream
    StreamSelection streams{};
    dvbs2::DamagedPacket damaged = dvbs2::DamagedPacket::drop;
    double udp_mbps = 0;                          ///< 0: packets leave by the signal's clock
    bool paced = true;                            ///< false: packets leave for the network as they come
    std::vector<io::RollLimits> roll{};           ///< of files; whichever comes first
    io::WhenFull when_full = io::WhenFull::lose;  ///< of a live input; files may wait for each other
    dvbs2::RxOutputs also{};                      ///< is given packets and frames, too
    double symbol_rate_hz = 0;  ///< of the signal, which is the clock of outputs; 0: unknown
    bool live = false;          ///< the input sets the pace: nothing is held up

    OutputStyle style(std::stop_token hurry) const;
    /// All that are named.
    std::vector<std::string> places() const;
    /// Whether data go to standard output.
    bool takes_standard_output() const;
};

/// The outputs of a carrier of several: video.ts becomes video.c2.ts for carrier 2, port 1234 becomes 1235.
/// Throws WrongUsage where there is no such port, and for standard output.
std::string place_of_carrier(const std::string& place, std::size_t carrier);

/// The places of a carrier of several.
RxOutputOptions outputs_of(const RxOutputOptions& all, std::size_t carrier);

/// Limits of which one would never count are wrong usage: two of a kind, or no file to which they apply.
void check_roll(const RxOutputOptions& options);

/// Reads what --isi names: the number of a stream, or all. Throws WrongUsage.
StreamSelection parse_isi(const std::string& text);

/// Opens what the options name, and hands each part of a reception to its places.
class RxOutputWriter {
  public:
    /// Throws JobFailed or WrongUsage.
    explicit RxOutputWriter(const RxOutputOptions& options, std::vector<io::TunDevice> interfaces = {});

    /// Functions that the receiver calls; valid while the writer lives. They throw JobFailed once no place is
    /// left.
    dvbs2::RxOutputs outputs();

    /// Ends the pacing of data that are still to come. From any thread.
    void hurry() { hurry_.request_stop(); }

    /// Everything is handed over; throws JobFailed when no place took all.
    void close();

    /// Programmes and continuity of the first stream that came.
    const io::TsMonitor& monitor() const { return *monitor_; }

    /// Packets of input streams that have no place, by stream.
    const std::map<int, std::uint64_t>& not_sent() const { return not_sent_; }

    /// Bytes of packets that have come to no place, of those that were to go to one.
    std::uint64_t packet_bytes_lost() const;

    /// Counts of IP packets; null where none are wanted.
    Json ip_counts() const { return ip_ ? ip_->counts() : Json(); }

    /// Account of each output.
    std::vector<OutputAccount> accounts() const;

  private:
    void stamp(const dvbs2::ReceivedFrame& frame);
    void keep(Archive& archive);
    void write_packets(std::span<const std::uint8_t> packets, std::uint8_t stream);
    template <class Look>
    void look_for_ip(Look look);
    void write_to(OutputFan& places, std::span<const std::uint8_t> piece);
    OutputFan& packet_places(int stream);
    void add_place_of(int stream, const std::string& base, OutputFan& places) const;
    std::vector<const OutputFan*> all_places() const;
    void stop_without_places() const;

    std::stop_source hurry_;
    RxOutputOptions options_;
    OutputStyle style_;
    dvbs2::StreamChoice choice_;
    std::unique_ptr<io::TsMonitor> monitor_ = std::make_unique<io::TsMonitor>();
    std::optional<std::uint8_t> monitored_;
    std::map<int, OutputFan> packets_;  // by input stream when all are wanted, else one
    std::map<int, std::uint64_t> not_sent_;
    std::optional<SignalTime> came_at_;  // of the last frame
    OutputFan bbframes_;
    OutputFan generic_;
    std::unique_ptr<IpOutputs> ip_{};  // null: none wanted
};

}  // namespace tidemill::cli
