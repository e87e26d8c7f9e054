#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tidemill/apps/outputs/output_fan.hpp"
#include "tidemill/apps/outputs/output_kinds.hpp"
#include "tidemill/base/json.hpp"
#include "tidemill/dvbs2/streams/gse_receiver.hpp"
#include "tidemill/io/transport/ip_packet.hpp"
#include "tidemill/io/transport/mpe_receiver.hpp"
#include "tidemill/io/transport/tun_device.hpp"
#include "tidemill/io/transport/ule_counter.hpp"

namespace tidemill::cli {

/// Where IP packets out of a reception go: files, "-", or interfaces "tun:NAME".
struct IpOptions {
    std::vector<std::string> places{};
    std::vector<io::IpPrefix> allowed{};  ///< of interfaces: from and to where
    std::string user{};  ///< whose rights remain once an interface is open; empty: the user of sudo
    std::optional<std::uint16_t> mpe_pid{};  ///< the only one; none: all that carry such sections
};

/// Reads what --tun-allow and --mpe-pid name. Throws WrongUsage.
io::IpPrefix parse_tun_allow(const std::string& text);
std::uint16_t parse_mpe_pid(const std::string& text);

/// Opens the interfaces, if there are any, and gives up for ever what it took to do so. To be called first,
/// before there are threads and before anything is read. Throws WrongUsage or JobFailed.
std::vector<io::TunDevice> open_interfaces(const IpOptions& options);

/// Takes IP packets out of sections (MPE) and of generic streams (GSE), and gives them to their places.
class IpOutputs {
  public:
    /// Throws JobFailed or WrongUsage.
    IpOutputs(const IpOptions& options, const OutputStyle& style, std::vector<io::TunDevice> interfaces);

    bool empty() const { return places_.empty(); }

    /// Whole packets of a transport stream.
    void look_at_packets(std::span<const std::uint8_t> packets, std::uint8_t stream);
    /// The data field of a frame of a continuous generic stream.
    void look_at_field(std::span<const std::uint8_t> field, std::uint8_t stream);

    OutputFan& places() { return places_; }
    const OutputFan& places() const { return places_; }

    std::uint64_t packets() const { return packets_; }
    /// Counts of packets that came, and of those that were dropped, with the reasons.
    Json counts() const;

  private:
    /// State of an input stream.
    struct Stream {
        Stream(std::optional<std::uint16_t> pid, IpOutputs& to);

        io::MpeReceiver mpe;
        io::UleCounter ule{};
        dvbs2::GseReceiver gse;
    };

    Stream* stream(std::uint8_t number);
    void take(const dvbs2::GsePdu& pdu);
    void give(std::span<const std::uint8_t> packet);

    std::optional<std::uint16_t> mpe_pid_;
    OutputFan places_;
    std::vector<std::shared_ptr<const io::TunDevice>> interfaces_{};
    std::map<std::uint8_t, Stream> streams_{};
    std::uint64_t packets_ = 0;
    std::uint64_t other_protocols_ = 0;
    std::uint64_t ethernet_ = 0;  // of these, whole frames
    std::uint64_t not_ip_ = 0;
    std::uint64_t bytes_of_other_streams_ = 0;
};

}  // namespace tidemill::cli
