// Receptions that carry IP packets, in generic streams and in sections.
#include <array>
#include <cstdlib>
#include <string>
#include <vector>

#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>
#include <unistd.h>

#include "tidemill/dvbs2/streams/testing/made_gse.hpp"
#include "tidemill/io/testing/made_ip.hpp"
#include "tidemill/io/testing/made_mpe.hpp"
#include "tidemill/io/transport/pcap.hpp"
#include "tidemill/io/transport/tun_device.hpp"
#include "tidemill/testing/program.hpp"

namespace tidemill::cli {
namespace {

using namespace internal;
using Json = nlohmann::json;
using Bytes = std::vector<std::uint8_t>;
using Packets = std::vector<Bytes>;

// Each differs from the others.
Packets packets_to(const std::string& to, std::size_t count) {
    Packets packets;
    for (std::size_t i = 0; i < count; ++i)
        packets.push_back(
            io::internal::made_ipv4("10.1.2.3", to, 20 + i % 700, static_cast<std::uint8_t>(i)));
    return packets;
}

// Frames of QPSK 8/9, short: what their data fields hold.
constexpr std::size_t kFieldBytes = 1769;

// Packets whole where they fit, and in two fragments where they do not, and padding at the end.
Bytes gse_stream(const Packets& packets) {
    const dvbs2::internal::GseMaker gse({2, 0, 0});
    Bytes stream;
    const auto left = [&] { return kFieldBytes - stream.size() % kFieldBytes; };
    const auto put = [&](const Bytes& packet) {
        if (packet.size() > left()) stream.resize(stream.size() + left());
        stream.insert(stream.end(), packet.begin(), packet.end());
    };
    std::uint8_t number = 0;
    for (const Bytes& packet : packets) {
        const Bytes whole = gse.whole(0x0800, packet);
        if (whole.size() <= left()) {
            put(whole);
        } else {
            for (const Bytes& part : gse.fragments(number++, 0x0800, packet, packet.size() / 2 + 10))
                put(part);
        }
    }
    stream.resize(stream.size() + left());
    return stream;
}

Packets packets_in(const std::string& pcap) {
    const Bytes bytes(pcap.begin(), pcap.end());
    const Bytes header = io::pcap_header();
    REQUIRE(bytes.size() >= header.size());
    CHECK(Bytes(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(header.size())) == header);
    Packets packets;
    for (std::size_t at = header.size(); at + 16 <= bytes.size();) {
        const std::size_t size = bytes[at + 8] | bytes[at + 9] << 8;
        const auto begin = bytes.begin() + static_cast<std::ptrdiff_t>(at + 16);
        packets.emplace_back(begin, begin + static_cast<std::ptrdiff_t>(size));
        at += 16 + size;
    }
    return packets;
}

// A recording that carries a stream, with frames in front for the receiver to lock.
std::string sent_stream(const ScratchFolder& folder, const Bytes& stream, std::vector<std::string> how) {
    const std::string file = folder.put("stream", std::string(stream.begin(), stream.end()));
    const std::string recording = folder / "signal.sigmf-meta";
    how.insert(how.begin(),
               {"dvbs2", "tx", file, "-o", recording, "--modcod", "QPSK 8/9", "--frame", "short"});
    const Ended sent = run_program(how);
    REQUIRE_MESSAGE(sent.status == 0, sent.err);
    return recording;
}

bool holds_in_order(const Packets& all, const Packets& some) {
    auto at = all.begin();
    for (const Bytes& packet : some) {
        at = std::find(at, all.end(), packet);
        if (at == all.end()) return false;
        ++at;
    }
    return true;
}

// Addresses of this host, as they are written, but for those that every host has.
std::vector<std::string> own_addresses() {
    std::vector<std::string> texts;
    for (const io::IpAddress& own : io::own_addresses()) {
        std::array<char, INET6_ADDRSTRLEN> text{};
        inet_ntop(own.version == 4 ? AF_INET : AF_INET6, own.bytes.data(), text.data(), text.size());
        if (!io::is_local_only(own)) texts.emplace_back(text.data());
    }
    return texts;
}

Bytes mpe_stream(const Packets& packets) {
    std::vector<Bytes> sections;
    for (const Bytes& packet : packets) sections.push_back(io::internal::made_section(packet));
    return io::internal::made_packets(sections, 0x321);
}

}  // namespace

TEST_CASE("rx --ip-out: packets of a generic stream come out as they went in, whole and in fragments") {
    const ScratchFolder folder;
    const Packets packets = packets_to("239.1.1.1", 400);
    const std::string recording = sent_stream(folder, gse_stream(packets), {"--generic", "0"});
    const Ended ended = receive_in_order(recording, {"--ip-out", folder / "out.pcap"});
    REQUIRE_MESSAGE(ended.status == 0, ended.err);
    const Packets got = packets_in(ScratchFolder::content_of(folder / "out.pcap"));
    CHECK(got.size() > packets.size() * 3 / 4);
    CHECK(holds_in_order(packets, got));
    const Json ip = Json::parse(ended.out)["ip"];
    CHECK(ip["packets"] == got.size());
    CHECK(ip["streams"]["0"]["gse"]["pdus_bad_crc"] == 0);
}

TEST_CASE("rx --ip-out: packets in sections of a transport stream, which is written besides") {
    const ScratchFolder folder;
    const Packets packets = packets_to("239.1.1.1", 400);
    const std::string recording = sent_stream(folder, mpe_stream(packets), {});
    const auto receive = [&](std::vector<std::string> more) {
        more.insert(more.end(), {"--ip-out", folder / "out.pcap"});
        const Ended ended = receive_in_order(recording, more);
        REQUIRE_MESSAGE(ended.status == 0, ended.err);
        return packets_in(ScratchFolder::content_of(folder / "out.pcap"));
    };
    const Packets got = receive({"-o", folder / "out.ts"});
    CHECK(got.size() > packets.size() * 3 / 4);
    CHECK(holds_in_order(packets, got));
    CHECK(ScratchFolder::content_of(folder / "out.ts").size() > 188 * 500);
    CHECK(receive({"--mpe-pid", "0x321"}) == got);
    CHECK(receive({"--mpe-pid", "0x322"}).empty());
}

TEST_CASE(
    "rx --ip-out tun: packets reach an interface only from and to where they may, and rights are gone") {
    const ScratchFolder folder;
    const std::string try_it =
        fmt::format("test -c /dev/net/tun && unshare -n ip tuntap add dev tm0 mode tun >'{}' 2>&1",
                    (folder / "log").string());
    if (geteuid() != 0 || std::system(try_it.c_str()) != 0) {
        MESSAGE("skipped: no network namespace with /dev/net/tun here");
        return;
    }
    ::chmod((folder / "").c_str(), 0755);
    Packets packets;
    for (const char* to : {"239.1.1.1", "10.1.9.9", "127.0.0.1", "192.0.2.1"})
        for (Bytes& packet : packets_to(to, 100)) packets.push_back(packet);
    std::rotate(packets.begin(), packets.begin() + 200, packets.end());  // the allowed ones last
    const std::string recording = sent_stream(folder, mpe_stream(packets), {});
    const std::string script = fmt::format(
        "ip tuntap add dev tm0 mode tun && ip link set tm0 up && "
        "'{}' dvbs2 rx '{}' --executor sequence --json --ip-out tun:tm0 --user nobody "
        "--tun-allow 10.1.0.0/16 --tun-allow 239.0.0.0/8 >'{}' 2>'{}'; "
        "ip -s -j link show tm0 >'{}'; ip route show dev tm0 >'{}'; cat /proc/sys/net/ipv4/ip_forward >>'{}'",
        internal::program_path(), recording, (folder / "json").string(), (folder / "log").string(),
        (folder / "link").string(), (folder / "routes").string(), (folder / "routes").string());
    CHECK(std::system(fmt::format("unshare -n sh -c \"{}\"", script).c_str()) == 0);
    INFO(ScratchFolder::content_of(folder / "log"));
    const std::string report = ScratchFolder::content_of(folder / "json");
    REQUIRE_FALSE(report.empty());
    const Json tun = Json::parse(report)["ip"]["interfaces"]["tm0"];
    CHECK(tun["passed"] == 200);
    CHECK(tun["filtered"].get<int>() > 100);
    CHECK(tun["not_taken"] == 0);
    const Json link = Json::parse(ScratchFolder::content_of(folder / "link"));
    CHECK(link[0]["stats64"]["rx"]["packets"] == 200);
    CHECK(ScratchFolder::content_of(folder / "routes") == "0\n");
}

TEST_CASE("rx --ip-out: what cannot be is refused") {
    const ScratchFolder folder;
    const std::string recording = folder.put("x.ci8", "");
    const auto refused = [&](const std::vector<std::string>& more) {
        const Ended ended = receive_in_order(recording, more);
        CHECK(ended.status == 2);
        return ended.err;
    };
    CHECK(says(refused({"--ip-out", "tun:tm0"}), "--tun-allow"));
    CHECK(says(refused({"--ip-out", "tun:tm0", "--tun-allow", "everywhere"}), "10.1.0.0/16"));
    CHECK(says(refused({"--ip-out", "tun:../x", "--tun-allow", "10.1.0.0/16"}), "names no interface"));
    CHECK(says(refused({"--tun-allow", "10.0.0.0/8"}), "--tun-allow"));
    for (const char* local : {"127.0.0.0/8", "::1", "169.254.0.0/16", "fe80::/10"}) {
        CAPTURE(local);
        CHECK(says(refused({"--ip-out", "tun:tm0", "--tun-allow", local}), "never passes from or to"));
    }
    for (const std::string& own : own_addresses()) {
        CAPTURE(own);
        CHECK(says(refused({"--ip-out", "tun:tm0", "--tun-allow", own}), "this host"));
    }
    CHECK(says(refused({"--ip-out", "out.pcap", "--mpe-pid", "8191"}), "0 to 8190"));
    CHECK(says(refused({"--rate", "1M", "--ip-out", "udp://127.0.0.1:9"}), "does not write to udp"));
}

}  // namespace tidemill::cli
