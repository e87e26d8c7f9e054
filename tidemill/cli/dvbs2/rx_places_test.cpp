// Receptions that go to several places at once, and over networks.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tidemill/apps/outputs/output_kinds.hpp"
#include "tidemill/base/cli_error.hpp"
#include "tidemill/io/transport/ts_packet.hpp"
#include "tidemill/testing/loopback_server.hpp"
#include "tidemill/testing/program.hpp"
#include "tidemill/testing/small_recording.hpp"
#include "tidemill/testing/test_places.hpp"

namespace tidemill::cli {
namespace {

using namespace internal;
using Json = nlohmann::json;

// All datagrams that have come to a socket, joined, less what each begins with.
std::string datagrams_at(int socket, std::size_t header_bytes) {
    std::string all;
    std::array<char, 10000> buffer{};
    for (ssize_t got = 1; got > 0;) {
        got = ::recv(socket, buffer.data(), buffer.size(), MSG_DONTWAIT);
        if (got > 0) all.append(buffer.data() + header_bytes, static_cast<std::size_t>(got) - header_bytes);
    }
    return all;
}

struct UdpEar {
    UdpEar() : socket(::socket(AF_INET, SOCK_DGRAM, 0)) {
        sockaddr_in at = LoopbackPeer::address(0);
        REQUIRE(::bind(socket, reinterpret_cast<sockaddr*>(&at), sizeof at) == 0);
        socklen_t length = sizeof at;
        ::getsockname(socket, reinterpret_cast<sockaddr*>(&at), &length);
        port = ntohs(at.sin_port);
    }
    UdpEar(const UdpEar&) = delete;
    UdpEar& operator=(const UdpEar&) = delete;
    ~UdpEar() { ::close(socket); }

    int socket;
    int port = 0;
};

std::string plain_packets() {
    static const std::string kPackets = [] {
        const ScratchFolder folder;
        REQUIRE(receive_in_order(small_recording().meta, {"-o", folder / "plain.ts"}).status == 0);
        return ScratchFolder::content_of(folder / "plain.ts");
    }();
    return kPackets;
}

std::string joined_files(const ScratchFolder& folder, const std::string& begin) {
    std::vector<std::string> names;
    for (const auto& file : std::filesystem::directory_iterator(folder / ""))
        if (file.path().filename().string().starts_with(begin)) names.push_back(file.path());
    // Those of one second are numbered without zeros in front.
    std::ranges::sort(names, {}, [](const std::string& name) { return std::pair(name.size(), name); });
    std::string all;
    for (const std::string& name : names) all += ScratchFolder::content_of(name);
    return all;
}

}  // namespace

TEST_CASE("rx places: files, datagrams and RTP at once get the same") {
    const ScratchFolder folder;
    const UdpEar udp, rtp;
    const Ended ended =
        receive_in_order(small_recording().meta,
                         {"-o", folder / "a.ts", "-o", fmt::format("udp://127.0.0.1:{}", udp.port), "-o",
                          folder / "b.ts", "-o", fmt::format("rtp://127.0.0.1:{}", rtp.port), "--unpaced"});
    REQUIRE_MESSAGE(ended.status == 0, ended.err);
    CHECK(ScratchFolder::content_of(folder / "a.ts") == plain_packets());
    CHECK(ScratchFolder::content_of(folder / "b.ts") == plain_packets());
    CHECK(datagrams_at(udp.socket, 0) == plain_packets());
    CHECK(datagrams_at(rtp.socket, 12) == plain_packets());
    CHECK(Json::parse(ended.out)["outputs"].size() == 4);
}

TEST_CASE("rx places: one that fails is told and counted, and the others get everything") {
    const ScratchFolder folder;
    const Ended ended =
        receive_in_order(small_recording().meta, {"-o", "/dev/full", "-o", folder / "out.ts"});
    CHECK(ended.status == 1);
    CHECK(says(ended.err, "No space left"));
    CHECK(ScratchFolder::content_of(folder / "out.ts") == plain_packets());
    const Json outputs = Json::parse(ended.out)["outputs"];
    CHECK(says(outputs[0]["failure"].get<std::string>(), "No space left"));
    CHECK(outputs[0]["bytes_lost"] == plain_packets().size());
    CHECK(outputs[1]["failure"].is_null());
    const Ended none = receive_in_order(small_recording().meta, {"-o", "/dev/full"});
    CHECK(none.status == 1);
    CHECK(says(none.err, "No space left"));
}

TEST_CASE("rx places: the last line tells how much of what was received is in its file") {
    const ScratchFolder folder;
    const std::string call = fmt::format(
        "trap '' XFSZ; ulimit -f 40; exec '{}' dvbs2 rx '{}' --executor sequence -o '{}' >'{}' 2>'{}'",
        program_path(), small_recording().meta, (folder / "out.ts").string(), (folder / "out").string(),
        (folder / "log").string());
    CHECK(WEXITSTATUS(std::system(call.c_str())) == 1);
    CHECK(says(ScratchFolder::content_of(folder / "log"), "File too large"));
    CHECK(says(ScratchFolder::content_of(folder / "out"), " of it written   "));
    CHECK(ScratchFolder::content_of(folder / "out.ts").size() % 188 == 0);
    CHECK_FALSE(says(run_program({"dvbs2", "rx", small_recording().meta, "-o", folder / "all.ts",
                                  "--executor", "sequence"})
                         .out,
                     "of it written"));
}

TEST_CASE("rx places: a reader who reads nothing holds up no live input") {
    const ScratchFolder folder;
    const std::string pipe = folder / "nobody_reads";
    REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
    const int reader = ::open(pipe.c_str(), O_RDONLY | O_NONBLOCK);
    ::fcntl(reader, F_SETPIPE_SZ, 4096);
    const std::string call =
        fmt::format("cat '{}' | '{}' dvbs2 rx - --format ci8 --rate 2e6 -o '{}' -o '{}' --json >'{}' 2>'{}'",
                    small_recording().data(), internal::program_path(), pipe, (folder / "out.ts").string(),
                    (folder / "json").string(), (folder / "log").string());
    CHECK(WEXITSTATUS(std::system(call.c_str())) == 1);
    ::close(reader);
    CHECK(ScratchFolder::content_of(folder / "out.ts") == plain_packets());
    CHECK(says(ScratchFolder::content_of(folder / "log"), "took nothing for too long"));
    const Json outputs = Json::parse(ScratchFolder::content_of(folder / "json"))["outputs"];
    CHECK(outputs[0]["bytes_lost"].get<std::size_t>() > plain_packets().size() / 2);
}

TEST_CASE("rx places: a pipe that nobody has opened to read holds up neither a live input nor other places") {
    const ScratchFolder folder;
    const std::string pipe = folder / "nobody_opens";
    REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
    const std::string call =
        fmt::format("cat '{}' | '{}' dvbs2 rx - --format ci8 --rate 2e6 -o '{}' -o '{}' --json >'{}' 2>'{}'",
                    small_recording().data(), internal::program_path(), pipe, (folder / "out.ts").string(),
                    (folder / "json").string(), (folder / "log").string());
    CHECK(WEXITSTATUS(std::system(call.c_str())) == 1);
    CHECK(ScratchFolder::content_of(folder / "out.ts") == plain_packets());
    const Json outputs = Json::parse(ScratchFolder::content_of(folder / "json"))["outputs"];
    CHECK(outputs[0]["bytes_lost"] == plain_packets().size());
    CHECK_FALSE(outputs[0]["failure"].is_null());
}

TEST_CASE("rx places: who opens a pipe late gets all of a recording") {
    const ScratchFolder folder;
    const std::string pipe = folder / "pipe";
    REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
    Program receiver({"dvbs2", "rx", small_recording().meta, "--executor", "sequence", "-o", pipe});
    CHECK(ScratchFolder::content_of(pipe) == plain_packets());
    CHECK(receiver.finish().status == 0);
}

TEST_CASE("rx places: when the only one is gone, what was received is reported all the same") {
    const ScratchFolder folder;
    const SmallRecording longer(dsp::SampleFormat::ci8, 160);
    Program receiver({"dvbs2", "rx", longer.meta, "-o", "-", "--report", folder / "report.html", "--executor",
                      "sequence"});
    receiver.read_output(io::kTsPacketBytes);
    receiver.close_output();
    const Ended ended = receiver.finish();
    CHECK(ended.status == 1);
    CHECK(says(ended.err, "Broken pipe"));
    CHECK(says(ended.err, "bad frames 0   continuity errors 0"));
    CHECK(says(ScratchFolder::content_of(folder / "report.html"), "</html>"));
}

TEST_CASE("rx places: over TCP, who connects gets whole packets from then on") {
    const std::uint16_t in = LoopbackServer().port(), out = LoopbackServer().port();
    const std::string samples = small_recording().bytes();
    std::string got;
    std::thread peers([&] {
        const LoopbackPeer sender(LoopbackPeer::connect(in));
        sender.send(samples.substr(0, samples.size() / 2));
        const LoopbackPeer player(LoopbackPeer::connect(out));
        sender.send(samples.substr(samples.size() / 2));
        ::shutdown(sender.socket(), SHUT_WR);
        got = player.receive(2 * plain_packets().size());
    });
    const Ended ended = receive_json(
        fmt::format("tcp-listen://127.0.0.1:{}", in),
        {"--format", "ci8", "--rate", "2M", "-o", fmt::format("tcp-listen://127.0.0.1:{}", out)});
    peers.join();
    REQUIRE_MESSAGE(ended.status == 0, ended.err);
    CHECK(got.size() > plain_packets().size() / 4);
    CHECK(plain_packets().ends_with(got));
    CHECK(Json::parse(ended.out)["outputs"][0]["clients"] == 1);
}

TEST_CASE("rx --roll: a row of files holds the stream, and a checkpoint goes on in it") {
    const ScratchFolder folder;
    const auto receive = [&](std::vector<std::string> more) {
        more.insert(more.end(), {"-o", folder / "out.ts", "-o", folder / "one.ts", "--roll", "20kB"});
        return receive_in_order(small_recording().meta, more);
    };
    REQUIRE(receive({}).status == 0);
    CHECK(joined_files(folder, "out.") == plain_packets());
    for (const auto& file : std::filesystem::directory_iterator(folder / ""))
        std::filesystem::remove(file.path());
    CHECK(receive({"--checkpoint", folder / "state", "--frames", "9"}).status == 0);
    const Ended last = receive({"--checkpoint", folder / "state"});
    CHECK_MESSAGE(last.status == 0, last.err);
    CHECK(joined_files(folder, "out.").size() == plain_packets().size());
}

TEST_CASE("rx --checkpoint: several files go on, each where it was") {
    const ScratchFolder folder;
    const auto receive = [&](std::vector<std::string> more) {
        more.insert(more.end(),
                    {"-o", folder / "a.ts", "-o", folder / "b.ts", "--checkpoint", folder / "state"});
        return receive_in_order(small_recording().meta, more);
    };
    CHECK(receive({"--frames", "12"}).status == 0);
    const Ended last = receive({});
    CHECK_MESSAGE(last.status == 0, last.err);
    CHECK(ScratchFolder::content_of(folder / "a.ts") == plain_packets());
    CHECK(ScratchFolder::content_of(folder / "b.ts") == plain_packets());
}

TEST_CASE("rx places: what cannot be is refused") {
    const std::string& meta = small_recording().meta;
    const auto refused = [&](const std::vector<std::string>& more) {
        const Ended ended = receive_in_order(meta, more);
        CHECK(ended.status == 2);
        return ended.err;
    };
    CHECK(says(refused({"-o", "same.ts", "-o", "./same.ts"}), "choose another"));
    CHECK(says(refused({"-o", "udp://127.0.0.1:9", "-o", "udp://127.0.0.1:9"}), "choose another"));
    CHECK(says(refused({"--bbframes", "rtp://127.0.0.1:9"}), "for transport streams"));
    CHECK(says(refused({"-o", "tcp-listen://nobody"}), "tcp-listen://host:port"));
    for (const char* roll : {"1", "500", "0s", "1kB", "-1h", "nanB", "1e300B", "h", "B"}) {
        CAPTURE(roll);
        CHECK_THROWS_AS(parse_roll(roll), WrongUsage);
    }
    CHECK(says(refused({"-o", "-", "--roll", "1h"}), "nothing goes into a file"));
    CHECK(says(refused({"-o", "x.ts", "--roll", "1h", "--roll", "2h"}), "one of each"));
    CHECK(says(refused({"-o", "x.ts", "--status", "-"}), "standard output"));
    CHECK(parse_roll("1h").age == std::chrono::hours(1));
    CHECK(parse_roll("500MB").bytes == 500'000'000);
}

TEST_CASE("rx places: each stream has ports of its own, of every kind") {
    CHECK(place_of_stream("rtp://[::1]:1000", 7) == "rtp://[::1]:1007");
    CHECK(place_of_stream("tcp-listen://127.0.0.1:1000", 7) == "tcp-listen://127.0.0.1:1007");
}

}  // namespace tidemill::cli
