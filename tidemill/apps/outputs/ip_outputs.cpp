#include "tidemill/apps/outputs/ip_outputs.hpp"

#include <algorithm>
#include <chrono>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "tidemill/apps/outputs/output.hpp"
#include "tidemill/base/cli_error.hpp"
#include "tidemill/io/files/number_text.hpp"
#include "tidemill/io/io_error.hpp"
#include "tidemill/io/transport/pcap.hpp"
#include "tidemill/machine/drop_rights.hpp"
#include "tidemill/machine/platform_error.hpp"

namespace tidemill::cli {

namespace {

constexpr std::string_view kInterface = "tun:";
constexpr std::uint16_t kIpv4 = 0x0800, kIpv6 = 0x86dd;
// Their numbers come from the air; each may hold a few megabytes.
constexpr std::size_t kMostIpStreams = 16;

bool is_interface(const std::string& place) {
    return place.starts_with(kInterface);
}

std::string interface_of(const std::string& place) {
    return place.substr(kInterface.size());
}

void check_name(const std::string& place) {
    try {
        io::check_interface_name(interface_of(place));
    } catch (const io::IoError& error) {
        throw WrongUsage(fmt::format("--ip-out {}", error.what()));
    }
}

/// A file as tcpdump reads it.
class PcapOutput final : public ByteOutput {
  public:
    explicit PcapOutput(std::unique_ptr<ByteOutput> to) : to_(std::move(to)) {}

    void came_at(const SignalTime& time) override { to_->came_at(time); }
    void write(std::span<const std::uint8_t> packet) override {
        begin();
        to_->write(io::pcap_record(packet, std::chrono::system_clock::now()));
    }
    void flush() override { to_->flush(); }
    void close() override {
        begin();
        to_->close();
    }
    bool may_wait() const override { return to_->may_wait(); }
    void end() noexcept override { to_->end(); }
    OutputAt at() const override { return to_->at(); }
    void go_on_at(const OutputAt& at) override {
        to_->go_on_at(at);
        begun_ = at.bytes > 0;
    }
    OutputLosses losses() const override { return to_->losses(); }
    std::uint64_t bytes_kept_back() const override { return to_->bytes_kept_back(); }

  private:
    void begin() {
        if (!std::exchange(begun_, true)) to_->write(io::pcap_header());
    }

    std::unique_ptr<ByteOutput> to_;
    bool begun_ = false;
};

/// An interface of this machine.
class InterfaceOutput final : public ByteOutput {
  public:
    explicit InterfaceOutput(std::shared_ptr<io::TunDevice> device) : device_(std::move(device)) {}

    void write(std::span<const std::uint8_t> packet) override { device_->write(packet); }
    void close() override {}
    bool may_wait() const override { return false; }

  private:
    std::shared_ptr<io::TunDevice> device_;
};

std::unique_ptr<ByteOutput> open_pcap(const std::string& place, OutputStyle style) {
    style.roll = {};  // each file would need the beginning
    return std::make_unique<PcapOutput>(open_output(place, style, true));
}

Json counts_of(const io::MpeCounts& counts) {
    return {{"packets", counts.packets},
            {"sections_bad_crc", counts.sections_bad_crc},
            {"sections_cut_off", counts.sections_cut_off},
            {"scrambled", counts.scrambled},
            {"other_protocols", counts.other_protocols},
            {"parts_without_start", counts.parts_without_start},
            {"not_ip", counts.not_ip},
            {"pids_beyond", counts.pids_beyond}};
}

Json counts_of(const dvbs2::GseCounts& counts) {
    return {{"pdus", counts.pdus},
            {"packets_cut_off", counts.packets_cut_off},
            {"fragments_without_start", counts.fragments_without_start},
            {"pdus_bad_crc", counts.pdus_bad_crc},
            {"pdus_bad_length", counts.pdus_bad_length},
            {"pdus_replaced", counts.pdus_replaced},
            {"pdus_too_old", counts.pdus_too_old},
            {"pdus_without_room", counts.pdus_without_room},
            {"labels_missing", counts.labels_missing},
            {"extensions_unknown", counts.extensions_unknown}};
}

void check_allowed(const std::vector<io::IpPrefix>& allowed, const std::vector<io::IpAddress>& own) {
    const auto is_own = [&](const io::IpPrefix& each) {
        return each.bits == each.address.bits() && std::ranges::find(own, each.address) != own.end();
    };
    if (std::ranges::any_of(allowed, is_own))
        throw WrongUsage(
            "--tun-allow names an address of this host: a packet off the air never passes from or to it; "
            "give those of the network that is sent");
}

}  // namespace

io::IpPrefix parse_tun_allow(const std::string& text) {
    const auto prefix = io::parse_ip_prefix(text);
    if (!prefix)
        throw WrongUsage(
            fmt::format("--tun-allow {}: give addresses, like 10.1.0.0/16 or 2001:db8::/32", text));
    if (io::is_local_only(*prefix))
        throw WrongUsage(fmt::format(
            "--tun-allow {}: a packet off the air never passes from or to loopback, link-local or no "
            "address; give those of the network that is sent",
            text));
    return *prefix;
}

std::uint16_t parse_mpe_pid(const std::string& text) {
    constexpr std::uint16_t kLastPid = 0x1ffe;
    const auto pid = io::whole_number<std::uint16_t>(text);
    if (!pid || *pid > kLastPid)
        throw WrongUsage(fmt::format("--mpe-pid {}: give the number of a PID, 0 to {}", text, kLastPid));
    return *pid;
}

std::vector<io::TunDevice> open_interfaces(const IpOptions& options) {
    std::vector<io::TunDevice> interfaces;
    for (const std::string& place : options.places)
        if (is_interface(place)) check_name(place);
    const bool any = std::ranges::any_of(options.places, is_interface);
    if (!any && !options.allowed.empty()) throw WrongUsage("--tun-allow is for --ip-out tun:NAME");
    if (any && options.allowed.empty())
        throw WrongUsage(
            "--ip-out tun:NAME: say from and to where packets may pass, with --tun-allow PREFIX");
    if (any) check_allowed(options.allowed, writing(io::own_addresses));
    return writing([&] {
        std::optional<UserRights> user;
        if (any) user = options.user.empty() ? user_behind_sudo() : find_user(options.user);
        for (const std::string& place : options.places)
            if (is_interface(place))
                interfaces.emplace_back(interface_of(place), io::IpFilter(options.allowed));
        if (any) drop_rights(user);
        return std::move(interfaces);
    });
}

IpOutputs::Stream::Stream(std::optional<std::uint16_t> pid, IpOutputs& to)
    : mpe(pid, [&to](std::span<const std::uint8_t> packet) { to.give(packet); }),
      gse([&to](const dvbs2::GsePdu& pdu) { to.take(pdu); }) {}

IpOutputs::IpOutputs(const IpOptions& options, const OutputStyle& style,
                     std::vector<io::TunDevice> interfaces)
    : mpe_pid_(options.mpe_pid) {
    auto next = interfaces.begin();
    for (const std::string& place : options.places) {
        if (!is_interface(place)) {
            places_.add(place, open_pcap(place, style));
            continue;
        }
        auto device = std::make_shared<io::TunDevice>(std::move(*next++));
        interfaces_.push_back(device);
        places_.add(place, std::make_unique<InterfaceOutput>(std::move(device)));
    }
}

IpOutputs::Stream* IpOutputs::stream(std::uint8_t number) {
    const auto found = streams_.find(number);
    if (found != streams_.end()) return &found->second;
    if (streams_.size() >= kMostIpStreams) return nullptr;
    return &streams_.try_emplace(number, mpe_pid_, *this).first->second;
}

void IpOutputs::look_at_packets(std::span<const std::uint8_t> packets, std::uint8_t number) {
    if (Stream* const its = stream(number)) {
        its->mpe.push(packets);
        its->ule.push(packets);
    } else {
        bytes_of_other_streams_ += packets.size();
    }
}

void IpOutputs::look_at_field(std::span<const std::uint8_t> field, std::uint8_t number) {
    if (Stream* const its = stream(number)) {
        its->gse.push(field);
    } else {
        bytes_of_other_streams_ += field.size();
    }
}

void IpOutputs::take(const dvbs2::GsePdu& pdu) {
    if (pdu.protocol != kIpv4 && pdu.protocol != kIpv6) {
        ++other_protocols_;
        ethernet_ += pdu.protocol == dvbs2::kEthernetProtocol ? 1U : 0U;
        return;
    }
    const auto header = io::parse_ip(pdu.bytes);
    if (header) {
        give(pdu.bytes.first(header->bytes));
    } else {
        ++not_ip_;
    }
}

void IpOutputs::give(std::span<const std::uint8_t> packet) {
    ++packets_;
    places_.write(packet);
}

Json IpOutputs::counts() const {
    Json json = {{"packets", packets_},
                 {"other_protocols", other_protocols_},
                 {"ethernet", ethernet_},
                 {"not_ip", not_ip_},
                 {"bytes_of_other_streams", bytes_of_other_streams_}};
    Json streams = Json::object();
    for (const auto& [number, its] : streams_)
        streams[std::to_string(number)] =
            Json{{"mpe", counts_of(its.mpe.counts())}, {"gse", counts_of(its.gse.counts())}};
    json["streams"] = streams;
    std::uint64_t ule = 0;
    for (const auto& [number, its] : streams_) ule += its.ule.counts().packets;
    json["ule"] = ule;
    Json tuns = Json::object();
    for (const auto& each : interfaces_)
        tuns[each->name()] = Json{{"passed", each->counts().passed},
                                  {"filtered", each->counts().filtered},
                                  {"not_taken", each->counts().not_taken}};
    json["interfaces"] = tuns;
    return json;
}

}  // namespace tidemill::cli
