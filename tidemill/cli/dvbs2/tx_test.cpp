#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "tidemill/apps/transmission/tx_input.hpp"
#include "tidemill/base/cli_error.hpp"
#include "tidemill/io/io_error.hpp"
#include "tidemill/io/network/udp_receiver.hpp"
#include "tidemill/io/transport/rtp_packetizer.hpp"
#include "tidemill/io/transport/ts_packet.hpp"
#include "tidemill/testing/program.hpp"
#include "tidemill/testing/small_recording.hpp"

namespace tidemill::cli {
namespace {

using namespace internal;
using Json = nlohmann::json;

std::string random_packets(std::uint64_t count, std::uint64_t seed) {
    PacketSource source = PacketSource::random(count, seed);
    std::string packets;
    for (auto some = source.next(); !some.empty(); some = source.next()) {
        packets.append(some.begin(), some.end());
    }
    return packets;
}

Json send(const ScratchFolder& folder, std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"dvbs2", "tx", "--json", "-o", folder / "sent.sigmf-meta"});
    const Ended sent = run_program(arguments);
    REQUIRE_MESSAGE(sent.status == 0, sent.err);
    return Json::parse(sent.out);
}

// Receives what was sent, with noise that even the hardest of its MODCODs bears.
Json receive(const ScratchFolder& folder, const std::vector<std::string>& more) {
    const Ended noisy =
        run_program({"dvbs2", "channel", folder / "sent.sigmf-meta", "-o", folder / "noisy.sigmf-meta",
                     "--esn0", "20", "--cfo", "2e4", "--ppm", "10", "--lead", "9000", "--tail", "9000"});
    REQUIRE_MESSAGE(noisy.status == 0, noisy.err);
    const Ended ended = receive_in_order(folder / "noisy.sigmf-meta", more);
    REQUIRE_MESSAGE(ended.status == 0, ended.err);
    return Json::parse(ended.out);
}

// All null packets taken out.
std::string without_nulls(const std::string& packets) {
    std::string rest;
    for (std::size_t at = 0; at < packets.size(); at += io::kTsPacketBytes) {
        const bool is_null = (packets[at + 1] & 0x1f) == 0x1f && packets[at + 2] == '\xff';
        if (!is_null) rest += packets.substr(at, io::kTsPacketBytes);
    }
    return rest;
}

// Runs of null packets between packets and at the end, one longer than can be counted.
std::string with_nulls(const std::string& packets) {
    const std::string null_packet(io::kNullPacket.begin(), io::kNullPacket.end());
    std::string all;
    for (std::size_t at = 0, i = 0; at < packets.size(); at += io::kTsPacketBytes, ++i) {
        for (std::size_t run = i == 50 ? 400 : i % 7; run > 0; --run) all += null_packet;
        all += packets.substr(at, io::kTsPacketBytes);
    }
    return all + null_packet + null_packet;
}

// The long ISSY fields behind the packets of BBFRAMEs.
std::vector<int> long_clocks(const std::string& bbframes, std::size_t frame_bytes) {
    std::string data;
    for (std::size_t at = 0; at < bbframes.size(); at += frame_bytes) {
        const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(bbframes[at + i]); };
        data += bbframes.substr(at + 10, (byte(4) * 256U + byte(5)) / 8);
    }
    std::vector<int> clocks;
    for (std::size_t at = 188; at + 3 <= data.size(); at += 191) {
        const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(data[at + i]); };
        REQUIRE((byte(0) & 0xc0) == 0x80);
        clocks.push_back((byte(0) & 0x3f) << 16 | byte(1) << 8 | byte(2));
    }
    return clocks;
}

}  // namespace

TEST_CASE("tx, rx: MODCODs, frame sizes, pilots and dummy frames that change from frame to frame") {
    const ScratchFolder folder;
    const std::string packets = random_packets(700, 1);
    const Json sent =
        send(folder, {folder.put("in.ts", packets), "--format", "ci16", "--plan",
                      "QPSK 1/2 short pilots x2, 8PSK 3/4, dummy, 16APSK 2/3 short, 32APSK 3/4 pilots"});
    CHECK(sent["packets"] == 700);
    CHECK(sent["dummy_frames"].get<int>() * 5 >= sent["frames"].get<int>() - 5);
    const Json got = receive(folder, {"-o", folder / "out.ts"});
    CHECK(ScratchFolder::content_of(folder / "out.ts") == packets);
    CHECK(got["frames"] == sent["frames"]);
    CHECK(got["frames_bad"] == 0);
}

TEST_CASE("tx, rx: several input streams come back, each for itself") {
    const ScratchFolder folder;
    const std::string three = random_packets(150, 3);
    const std::string nine = random_packets(220, 9);
    send(folder, {"--stream", "3=" + folder.put("3.ts", three).string(), "--stream",
                  "9=" + folder.put("9.ts", nine).string(), "--plan", "QPSK 3/4 short isi 3, QPSK 1/2 short",
                  "--pilots"});
    receive(folder, {"-o", folder / "out.ts", "--isi", "all"});
    CHECK(ScratchFolder::content_of(folder / "out.isi3.ts") == three);
    CHECK(ScratchFolder::content_of(folder / "out.isi9.ts") == nine);
    receive(folder, {"-o", folder / "nine.ts", "--isi", "9"});
    CHECK(ScratchFolder::content_of(folder / "nine.ts") == nine);
}

TEST_CASE("rx: where nothing comes out it fails, and says why") {
    const ScratchFolder folder;
    const std::string sent = folder / "sent.sigmf-meta";
    const std::string input = folder.put("in.ts", random_packets(150, 3));
    send(folder, {"--stream", "3=" + input, "--stream", "200=" + input, "--frame", "short"});
    const Ended not_there = receive_in_order(sent, {"--isi", "77"});
    CHECK(not_there.status == 1);
    CHECK(says(not_there.err, "input stream 77 is not there, the signal has 3, 200"));
    CHECK(receive_in_order(sent, {"--isi", "77", "--bbframes", folder / "frames"}).status == 0);
    send(folder, {input, "--generic", "0", "--frame", "short"});
    const Ended generic = receive_in_order(sent);
    CHECK(generic.status == 1);
    CHECK(says(generic.err, "a generic stream"));
}

TEST_CASE("rx: a stream whose port would lie beyond the last one costs its own packets only") {
    const ScratchFolder folder;
    const std::string input = folder.put("in.ts", random_packets(150, 3));
    send(folder, {"--stream", "3=" + input, "--stream", "200=" + input, "--frame", "short"});
    const Ended ended = receive_in_order(folder / "sent.sigmf-meta",
                                         {"--isi", "all", "-o", "udp://127.0.0.1:65400", "--unpaced"});
    REQUIRE_MESSAGE(ended.status == 0, ended.err);
    const Json json = Json::parse(ended.out);
    CHECK(json["ts_packets"] == 300);
    CHECK(json["losses"]["ts_packets_not_sent"] == 150);
    CHECK(says(json["warnings"].dump(), "150 packets of input stream 200 not sent"));
}

TEST_CASE("tx, rx: generic streams, of packets and continuous ones, come back to the byte") {
    const ScratchFolder folder;
    std::string packets = random_packets(200, 4);
    packets.resize(packets.size() / 100 * 100);
    for (std::size_t at = 0; at < packets.size(); at += 100) packets[at] = '\x5a';
    for (const std::string kind : {"100", "0"}) {
        CAPTURE(kind);
        const Json sent = send(folder, {folder.put("in", packets), "--generic", kind, "--sync-byte", "0x5a",
                                        "--modcod", "8PSK 2/3", "--frame", "short", "--pilots"});
        CHECK(sent["bytes"] == packets.size());
        const Json got = receive(folder, {"--generic", folder / "out"});
        CHECK(ScratchFolder::content_of(folder / "out") == packets);
        CHECK(got["frames_generic"] == sent["frames"]);
        CHECK(got["generic_bytes"] == packets.size());
        CHECK(got["ts_packets"] == 0);
        const Ended told = run_program(
            {"dvbs2", "rx", folder / "sent.sigmf-meta", "--executor", "sequence", "--generic", "/dev/null"});
        CHECK(says(told.out, "   38 kB of generic streams   bad frames 0"));
    }
}

TEST_CASE(
    "tx, rx: a stream slower than the signal is filled with null packets or dummy frames, none is lost") {
    const ScratchFolder folder;
    const std::string packets = random_packets(200, 5);
    const std::string input = folder.put("in.ts", packets);
    for (const std::string idle : {"null", "dummy"}) {
        CAPTURE(idle);
        const Json sent = send(folder, {input, "--input-rate", "0.9", "--idle", idle, "--modcod", "QPSK 3/4",
                                        "--frame", "short", "--pilots"});
        CHECK(sent[idle == "null" ? "null_packets" : "dummy_frames"].get<int>() > 20);
        // The signal lasts as long as the stream, some frames more or less.
        CHECK(sent["duration_s"].get<double>() == doctest::Approx(200 * 1504 / 0.9e6).epsilon(0.1));
        receive(folder, {"-o", folder / "out.ts"});
        const std::string out = ScratchFolder::content_of(folder / "out.ts");
        CHECK(without_nulls(out) == packets);
        CHECK((out == packets) == (idle == "dummy"));
    }
}

TEST_CASE(
    "tx, rx: null packets are deleted, counted and put back where they were, whatever ISSY stands with "
    "them") {
    const ScratchFolder folder;
    const std::string packets = with_nulls(random_packets(120, 6));
    const std::string input = folder.put("in.ts", packets);
    const std::size_t nulls = (packets.size() - without_nulls(packets).size()) / io::kTsPacketBytes;
    for (const std::string issy : {"none", "short", "long"}) {
        CAPTURE(issy);
        const Json sent = send(folder, {input, "--npd", "--issy", issy, "--input-rate", "12", "--modcod",
                                        "QPSK 3/4", "--frame", "short", "--pilots"});
        // Two packets of the longest run are sent, its 256th and, of the last run, the last.
        CHECK(sent["null_packets_deleted"] == nulls - 2);
        CHECK(sent["dummy_frames"] > 0);
        const Json got = receive(folder, {"-o", folder / "out.ts"});
        CHECK(ScratchFolder::content_of(folder / "out.ts") == packets);
        CHECK(got["null_packets_put_back"] == nulls - 2);
        CHECK(got["ts_packets"] == packets.size() / io::kTsPacketBytes);
        const Json fields = issy == "none" ? Json::object() : Json{{"ISCR " + issy, 120 + 2}};
        CHECK(got["issy_fields"] == fields);
    }
}

TEST_CASE("tx, rx: ISSY counts the symbols of the signal from packet to packet, or those of the input rate") {
    const ScratchFolder folder;
    const auto clocks_sent = [&](std::vector<std::string> more) {
        more.insert(more.end(), {"--random", "200", "--issy", "long", "--modcod", "QPSK 3/4", "--frame",
                                 "short", "--pilots"});
        send(folder, more);
        receive(folder, {"-o", folder / "out.ts", "--bbframes", folder / "bbframes"});
        return long_clocks(ScratchFolder::content_of(folder / "bbframes"), 11712 / 8);
    };
    const auto check_period = [](const std::vector<int>& clocks, double symbols) {
        REQUIRE(clocks.size() > 150);
        for (std::size_t i = 0; i < clocks.size(); ++i) {
            CHECK(std::abs(clocks[i] - static_cast<double>(i) * symbols) <= 1);
        }
    };
    // 8370 symbols, pilots among them, carry 1454 bytes; a packet with its ISSY has 191.
    check_period(clocks_sent({}), 191.0 * 8370 / 1454);
    check_period(clocks_sent({"--idle", "dummy", "--input-rate", "0.75"}), 1504 / 0.75);
}

TEST_CASE("tx: raw samples of every format on standard output are those of the file") {
    const ScratchFolder folder;
    for (const std::string format : {"ci8", "ci16_be", "cf32", "cf64"}) {
        CAPTURE(format);
        send(folder, {"--random", "30", "--frame", "short", "--format", format});
        const Ended piped = run_program(
            {"dvbs2", "tx", "--random", "30", "--frame", "short", "--format", format, "-o", "-", "--json"});
        CHECK(piped.status == 0);
        CHECK(piped.out == ScratchFolder::content_of(folder / "sent.sigmf-data"));
        CHECK(says(piped.err, "\"packets\": 30"));
    }
}

TEST_CASE(
    "tx: plans and streams that cannot be are wrong usage, streams that are not what they should be "
    "unusable") {
    const ScratchFolder folder;
    const std::string input = folder.put("in.ts", random_packets(20, 1)).string();
    const auto status = [&](std::vector<std::string> more) {
        more.insert(more.begin(), {"dvbs2", "tx", "-o", folder / "out.sigmf-meta"});
        const Ended ended = run_program(more);
        CHECK_FALSE(ended.err.empty());
        return ended.status;
    };
    for (const std::string plan :
         {"QPSK 7/8", "QPSK 1/2 long", "QPSK 1/2 x0", "QPSK 1/2 isi 4", "dummy", ",", ""}) {
        CAPTURE(plan);
        CHECK(status({input, "--plan", plan}) == 2);
    }
    CHECK(status({"--stream", "x=" + input}) == 2);
    CHECK(status({"--stream", "256=" + input}) == 2);
    CHECK(status({"--stream", "1=" + input, "--stream", "1=" + input}) == 2);
    CHECK(status({"--stream", "1=" + input, "--stream", "2=" + input, "--plan", "QPSK 1/2 isi 1"}) == 2);
    CHECK(status({"--random", "9", "--generic", "0"}) == 2);
    CHECK(status({"udp://127.0.0.1:0"}) == 3);
    CHECK(status({"udp://127.0.0.1:1", "--input-rate", "1"}) == 2);
    CHECK(status({input, "--npd", "--generic", "0"}) == 2);
    CHECK(status({input, "--npd", "--issy", "long"}) == 2);  // at which rate?
    CHECK(status({input, "--issy", "long", "--generic", "100", "--input-rate", "1"}) == 2);
    CHECK(status({input, "--issy", "middle"}) == 2);
    CHECK(status({input, "--generic", "100"}) == 3);  // no sync byte every 100 bytes
    CHECK(status({folder.put("empty.ts", "")}) == 3);
}

TEST_CASE("tx: bursts of frames lie where they should to the sample, with silence between") {
    const ScratchFolder folder;
    const Json sent =
        send(folder, {"--random", "400", "--frame", "short", "--burst", "4", "--burst-every", "0.05"});
    const std::string samples = ScratchFolder::content_of(folder / "sent.sigmf-data");
    constexpr std::size_t kEvery = 2 * 100'000;  // bytes of I and Q at 2 MS/s
    REQUIRE(sent["bursts"].get<std::size_t>() >= 3);
    CHECK(sent["samples"].get<std::size_t>() == samples.size() / 2);
    const auto is_silent = [&](std::size_t from, std::size_t count) {
        return samples.find_first_not_of('\0', from) >= from + count;
    };
    for (std::size_t burst = 0; burst < sent["bursts"]; ++burst) {
        CAPTURE(burst);
        CHECK_FALSE(is_silent(burst * kEvery, 200));
        CHECK_FALSE(is_silent(burst * kEvery + 100'000, 200));
        CHECK(is_silent((burst + 1) * kEvery - 60'000, 60'000));
    }
    CHECK(receive(folder, {"-o", folder / "received.ts"})["ts_packets"] > 200);
    const Ended crowded = run_program({"dvbs2", "tx", "--random", "400", "--frame", "short", "--burst", "40",
                                       "--burst-every", "0.05", "-o", folder / "no.ci8"});
    CHECK(crowded.status == 2);
    CHECK(says(crowded.err, "last longer than 0.05 s"));
}

TEST_CASE("tx: every executor writes the same bytes, whatever is sent") {
    const ScratchFolder folder;
    const std::string packets = folder.put("in.ts", random_packets(900, 5));
    const std::vector<std::vector<std::string>> signals{
        {"--frame", "short", "--pilots", "--format", "cf32"},
        {"--plan", "QPSK 1/2 short x2, 16APSK 2/3, dummy", "--samples-per-symbol", "3"},
        {"--samples-per-symbol", "1", "--frame", "short"},
        {"--frame", "short", "--burst", "5", "--burst-every", "0.1", "--format", "ci16"}};
    for (const auto& signal : signals) {
        CAPTURE(signal[1]);
        const auto sent_by = [&](const std::vector<std::string>& how) {
            std::vector<std::string> arguments{packets};
            for (const auto& more : {signal, how})
                arguments.insert(arguments.end(), more.begin(), more.end());
            const Json sent = send(folder, arguments);
            CHECK(sent["executor"] == how[1]);
            return ScratchFolder::content_of(folder / "sent.sigmf-data");
        };
        const std::string in_order = sent_by({"--executor", "sequence"});
        CHECK(sent_by({"--executor", "dynamic"}) == in_order);
        CHECK(sent_by({"--executor", "threads", "--replicas", "2"}) == in_order);
        CHECK(sent_by({"--executor", "pipeline", "--profile-seconds", "0.05"}) == in_order);
    }
}

TEST_CASE("tx: --stats tells who ran it and where the time went, what is live stays in order") {
    const ScratchFolder folder;
    const Ended told = run_program(
        {"dvbs2", "tx", "--random", "900", "--frame", "short", "--stats", "-o", folder / "sent.ci8"});
    REQUIRE_MESSAGE(told.status == 0, told.err);
    for (const char* words : {"frames.make", "modulator.modulate", "pulse.shape", "sink.write", "Mb/s"})
        CHECK(says(told.out, words));
    const Ended paced = run_program({"dvbs2", "tx", "--random", "100", "--symbol-rate", "5e6", "--json", "-o",
                                     "vita49://127.0.0.1:65009"});
    REQUIRE_MESSAGE(paced.status == 0, paced.err);
    CHECK(Json::parse(paced.out)["executor"] == "sequence");
}

TEST_CASE("tx: a full disk ends it with a message") {
    const ScratchFolder folder;
    std::filesystem::create_symlink("/dev/full", folder / "full.ci8");
    const Ended ended = run_program({"dvbs2", "tx", "--random", "500", "-o", folder / "full.ci8"});
    CHECK(ended.status == 1);
    CHECK(says(ended.err, "No space left"));
}

TEST_CASE("tx input: datagrams are taken as they come; what is no whole packet is left out and counted") {
    std::optional<io::UdpReceiver> other(io::NetworkAddress{"127.0.0.1", 0});
    const std::uint16_t port = other->port();
    const std::string url = "udp://127.0.0.1:" + std::to_string(port);
    CHECK_THROWS_AS(open_tx_input(url, {}), io::IoError);  // another program listens there
    other.reset();
    const auto input = open_tx_input(url, {});
    CHECK(input->take(1880, 0).empty());
    io::UdpSender sender({"127.0.0.1", port});
    sender.send(std::vector<std::uint8_t>(7 * io::kTsPacketBytes, 0x47));
    sender.send(std::vector<std::uint8_t>(100, 0x47));
    sender.send(std::vector<std::uint8_t>(5 * io::kTsPacketBytes, 0x47));
    CHECK(input->take(8 * io::kTsPacketBytes, 0).size() == 8 * io::kTsPacketBytes);
    CHECK(input->take(8 * io::kTsPacketBytes, 0).size() == 4 * io::kTsPacketBytes);
    CHECK(input->bytes_left_out() == 100);
    CHECK_FALSE(input->ended());
}

TEST_CASE("tx input: RTP is understood by itself, as udp:// and as rtp://") {
    for (const std::string scheme : {"udp", "rtp"}) {
        const std::uint16_t port = io::UdpReceiver(io::NetworkAddress{"127.0.0.1", 0}).port();
        const auto input = open_tx_input(scheme + "://127.0.0.1:" + std::to_string(port), {});
        io::UdpSender sender({"127.0.0.1", port});
        io::RtpPacketizer rtp({});
        const std::vector<std::uint8_t> packets(7 * io::kTsPacketBytes, 0x47);
        sender.send(rtp.packet(packets, 0));
        CHECK(input->take(8 * io::kTsPacketBytes, 0).size() == packets.size());
        CHECK(input->bytes_left_out() == 0);
        CHECK(input->remark().empty());
    }
    CHECK_THROWS_AS(open_tx_input("udp://239.1.2.3:5000?ttl=4", {}), WrongUsage);
}

TEST_CASE("tx: a damaged sync byte costs its packet, and the transmission goes on") {
    const ScratchFolder folder;
    std::string packets = random_packets(900, 5);
    packets[300 * io::kTsPacketBytes] = 0;
    const Json sent = send(folder, {folder.put("in.ts", packets), "--frame", "short"});
    CHECK(sent["packets"] == 899);
    CHECK(sent["bytes_left_out"] == io::kTsPacketBytes);
    CHECK(says(sent["warnings"].dump(), std::to_string(300 * io::kTsPacketBytes)));
}

TEST_CASE(
    "tx input: a file is taken in pieces of any size, again and again, without what is no whole packet") {
    const ScratchFolder folder;
    const std::string packets = random_packets(10, 1);
    const auto input = open_tx_input(folder.put("in.ts", packets + "rest"), {.repeat = 3});
    std::string all;
    for (std::size_t most = 0; !input->ended(); most += io::kTsPacketBytes) {
        const auto bytes = input->take(most, 0);
        CHECK(bytes.size() <= most);
        all.append(bytes.begin(), bytes.end());
    }
    CHECK(all == packets + packets + packets);
    CHECK(input->bytes_left_out() == 12);
}

TEST_CASE("tx input: at a rate, no more is there than would have come by now") {
    const TxInputOptions options{.rate_mbps = 1.504};  // a packet a millisecond
    const auto input = random_tx_input(100, 1, options);
    CHECK(input->take(18800, 0.0005).empty());
    CHECK(input->take(18800, 0.0105).size() == 10 * io::kTsPacketBytes);
    CHECK(input->take(18800, 0.0105).empty());
    CHECK_FALSE(input->ended());
    CHECK(input->take(18800, 1).size() == 90 * io::kTsPacketBytes);
    CHECK(input->ended());
}

}  // namespace tidemill::cli
