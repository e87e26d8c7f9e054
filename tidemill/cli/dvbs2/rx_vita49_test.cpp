// Receptions of VITA-49 packets: one sender, several receivers, each tuned to its carrier.
#include <cstring>
#include <fstream>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tidemill/io/network/udp_receiver.hpp"
#include "tidemill/io/transport/ts_packet.hpp"
#include "tidemill/testing/loopback_server.hpp"
#include "tidemill/testing/program.hpp"
#include "tidemill/testing/scratch_folder.hpp"

namespace tidemill::cli {
namespace {

using namespace internal;
using Json = nlohmann::json;

constexpr const char* kGroup = "239.255.49.3";

std::vector<float> numbers_of(const std::string& path) {
    const std::string bytes = ScratchFolder::content_of(path);
    std::vector<float> numbers(bytes.size() / sizeof(float));
    std::memcpy(numbers.data(), bytes.data(), numbers.size() * sizeof(float));
    return numbers;
}

/// Two carriers of 100 kBd at 120 kHz to either side of the middle, 500 kS/s.
struct TwoCarriers {
    ScratchFolder folder;
    std::string samples = folder / "both.cf32";

    TwoCarriers() {
        make("lower", "-120k", "1");
        make("upper", "120k", "2");
        std::vector<float> both = numbers_of(folder / "lower.cf32");
        const std::vector<float> other = numbers_of(folder / "upper.cf32");
        for (std::size_t i = 0; i < both.size(); ++i) both[i] += i < other.size() ? other[i] : 0;
        std::ofstream(samples, std::ios::binary)
            .write(reinterpret_cast<const char*>(both.data()),
                   static_cast<std::streamsize>(both.size() * sizeof(float)));
    }

    std::string sent(const std::string& name) const {
        return ScratchFolder::content_of(folder / (name + ".ts"));
    }

  private:
    void make(const std::string& name, const std::string& offset, const std::string& seed) const {
        const std::string clean = folder / (name + "_clean.cf32");
        const Ended made = run_program(
            {"dvbs2", "tx", "--random", "400", "--seed", seed, "-o", clean, "--frame", "short", "--modcod",
             "QPSK 1/2", "--pilots", "--symbol-rate", "100k", "--packets-output", folder / (name + ".ts")});
        REQUIRE_MESSAGE(made.status == 0, made.err);
        const Ended moved =
            run_program({"dvbs2", "channel", clean, "-o", folder / (name + ".cf32"), "--rate", "200k",
                         "--symbol-rate", "100k", "--rate-ratio", "2.5", "--cfo", offset, "--esn0", "12"});
        REQUIRE_MESSAGE(moved.status == 0, moved.err);
    }
};

/// Passes datagrams on to a group by a thread of its own: of data packets one in a hundred is lost, one in
/// ten changes places with the next.
class LossyRelay {
  public:
    explicit LossyRelay(std::uint16_t to) : to_({kGroup, to, "lo"}), thread_([this] { pass_on(); }) {}
    ~LossyRelay() { from_.end(); }

    std::uint16_t port() const { return from_.port(); }

    /// No more will come; returns how many were lost.
    int finish() {
        from_.end();
        thread_.join();
        return lost_;
    }

  private:
    void pass_on() {
        while (from_.wait())
            for (auto datagram = from_.next(); !datagram.empty(); datagram = from_.next()) pass_on(datagram);
    }
    void pass_on(std::span<const std::uint8_t> datagram) {
        const bool is_data = (datagram[0] >> 4) == 1;
        const unsigned luck = is_data && !is_first_ ? random_() % 100 : 99;
        is_first_ &= !is_data;
        if (luck == 0) {
            ++lost_;
        } else if (luck <= 10 && kept_.empty()) {
            kept_.assign(datagram.begin(), datagram.end());
        } else {
            to_.send(datagram);
            if (!kept_.empty()) to_.send(kept_);
            kept_.clear();
        }
    }

    io::UdpReceiver from_{{"127.0.0.1", 0}};
    io::UdpSender to_;
    std::mt19937 random_{16};
    std::vector<std::uint8_t> kept_;
    bool is_first_ = true;
    int lost_ = 0;
    std::jthread thread_;
};

// Waits until so many sockets are bound to a port.
void wait_for_listeners(std::uint16_t port, std::size_t wanted) {
    const std::string mark = fmt::format(":{:04X} 00000000:0000", port);
    std::size_t found = 0;
    while (found < wanted) {
        std::ifstream sockets("/proc/net/udp");
        found = 0;
        for (std::string line; std::getline(sockets, line);) found += says(line, mark);
        std::this_thread::yield();
    }
}

std::uint16_t free_udp_port() {
    return io::UdpReceiver({"127.0.0.1", 0}).port();
}

// How many packets came; each of them must have been sent, and in this order.
std::size_t packets_in_order(const std::string& got, const std::string& sent) {
    std::size_t from = 0, count = 0;
    for (std::size_t at = 0; at + io::kTsPacketBytes <= got.size(); at += io::kTsPacketBytes, ++count) {
        const std::string packet = got.substr(at, io::kTsPacketBytes);
        while (from < sent.size() && sent.compare(from, io::kTsPacketBytes, packet) != 0)
            from += io::kTsPacketBytes;
        REQUIRE(from < sent.size());
        from += io::kTsPacketBytes;
    }
    return count;
}

}  // namespace

TEST_CASE(
    "rx vita49://: one sender, a group, two receivers at their carriers: no wrong packet, gaps counted") {
    const TwoCarriers band;
    const ScratchFolder folder;
    const std::uint16_t port = free_udp_port();
    LossyRelay relay(port);
    const auto receiver = [&](const char* name, const char* offset) {
        return std::make_unique<Program>(std::vector<std::string>{
            "dvbs2", "rx", fmt::format("vita49://{}:{}?interface=lo", kGroup, port), "--offset", offset,
            "--symbol-rate", "100k", "--json", "-o", folder / name});
    };
    const auto lower = receiver("lower", "-120k"), upper = receiver("upper", "120k");
    wait_for_listeners(port, 2);
    const Ended sent = run_program({"dvbs2", "channel", band.samples, "--rate", "500k", "-o",
                                    fmt::format("vita49://127.0.0.1:{}", relay.port())});
    REQUIRE_MESSAGE(sent.status == 0, sent.err);
    const int lost = relay.finish();
    CHECK(lost > 10);
    for (const auto& [name, program] : {std::pair("lower", lower.get()), std::pair("upper", upper.get())}) {
        program->interrupt();
        const Ended ended = program->finish();
        REQUIRE_MESSAGE(ended.status == 0, ended.err);
        const Json json = Json::parse(ended.out);
        CAPTURE(name);
        // All, but for those behind the last that came; more where this machine was late.
        constexpr int kSamplesPerPacket = 360;
        CHECK(json["losses"]["samples_missing"].get<int>() >= (lost - 2) * kSamplesPerPacket);
        CHECK(json["losses"]["overflows"].get<int>() > lost / 2);
        CHECK(packets_in_order(ScratchFolder::content_of(folder / name), band.sent(name)) > 200);
    }
}

TEST_CASE("rx vita49://: ended before a rate was known it says so, with why packets were not taken") {
    const std::uint16_t port = free_udp_port();
    Program receiver({"dvbs2", "rx", fmt::format("vita49://127.0.0.1:{}", port), "-o", "/dev/null"});
    wait_for_listeners(port, 1);
    const int sender = ::socket(AF_INET, SOCK_DGRAM, 0);
    const sockaddr_in to = LoopbackPeer::address(port);
    ::sendto(sender, "no packet", 9, 0, reinterpret_cast<const sockaddr*>(&to), sizeof to);
    ::close(sender);
    receiver.interrupt();
    const Ended ended = receiver.finish();
    CHECK(ended.status == 1);
    CHECK(says(ended.err, "interrupted before samples came"));
}

TEST_CASE("rx vita49://: what cannot be is refused in a sentence") {
    const auto refused = [](const std::string& place) {
        const Ended ended = run_program({"dvbs2", "rx", place, "-o", "x.ts"});
        CHECK(ended.status == 3);
        return ended.err;
    };
    CHECK(says(refused("vita49://nowhere"), "give vita49://host:port"));
    CHECK(says(refused("vita49://239.1.2.3:5000?interface=nosuch0"), "no network interface 'nosuch0'"));
    CHECK(says(refused("vita49://127.0.0.1:5000?id=4"), "has the setting 'id=4'"));
    const Ended sent =
        run_program({"dvbs2", "tx", "--random", "20", "-o", "vita49://127.0.0.1:5000", "--format", "cf32"});
    CHECK(sent.status == 2);
    CHECK(says(sent.err, "packets hold ci8 or ci16, not cf32_le"));
}

}  // namespace tidemill::cli
