#include "tidemill/apps/reception/rx_outputs.hpp"

#include <array>
#include <chrono>
#include <cstdlib>
#include <future>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tidemill/dvbs2/channel/channel.hpp"
#include "tidemill/dvbs2/send/frame_modulator.hpp"
#include "tidemill/dvbs2/send/pulse_shaper.hpp"
#include "tidemill/dvbs2/standard/bb_header.hpp"
#include "tidemill/io/recordings/recording_writer.hpp"
#include "tidemill/testing/program.hpp"
#include "tidemill/testing/small_recording.hpp"
#include "tidemill/testing/test_places.hpp"

namespace tidemill::cli {
namespace {

using namespace internal;
using Json = nlohmann::json;

// A player's view of the datagrams.
class Player {
  public:
    Player() : socket_(::socket(AF_INET, SOCK_DGRAM, 0)) {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        REQUIRE(::bind(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
        socklen_t length = sizeof address;
        ::getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &length);
        port_ = ntohs(address.sin_port);
    }
    Player(const Player&) = delete;
    Player& operator=(const Player&) = delete;
    ~Player() { ::close(socket_); }

    std::string url() const { return fmt::format("udp://127.0.0.1:{}", port_); }

    // All datagrams that have come.
    std::vector<std::string> datagrams() const {
        std::vector<std::string> all;
        std::array<char, 10000> buffer{};
        for (ssize_t got = 1; got > 0;) {
            got = ::recv(socket_, buffer.data(), buffer.size(), MSG_DONTWAIT);
            if (got > 0) all.emplace_back(buffer.data(), static_cast<std::size_t>(got));
        }
        return all;
    }

  private:
    int socket_;
    int port_ = 0;
};

// Reads nothing from a small pipe until what is in it has stood still for a while, then all.
std::string read_late(const std::string& pipe) {
    const int file = ::open(pipe.c_str(), O_RDONLY);  // waits for a writer
    ::fcntl(file, F_SETPIPE_SZ, 4096);
    for (int before = -1, waiting = 0; waiting == 0 || waiting != before;) {
        before = waiting;
        std::this_thread::sleep_for(std::chrono::milliseconds(300));
        if (::ioctl(file, FIONREAD, &waiting) != 0) break;
    }
    std::string all;
    std::array<char, 4096> buffer{};
    for (ssize_t got = 1; got > 0;) {
        got = ::read(file, buffer.data(), buffer.size());
        if (got > 0) all.append(buffer.data(), static_cast<std::size_t>(got));
    }
    ::close(file);
    return all;
}

std::string received_in_order(const std::string& recording, const ScratchFolder& folder) {
    const Ended ended = receive_in_order(recording, {"-o", folder / "plain.ts"});
    REQUIRE_MESSAGE(ended.status == 0, ended.err);
    return ScratchFolder::content_of(folder / "plain.ts");
}

}  // namespace

TEST_CASE("rx outputs: dynamic workers are told of places where packets wait until they are due") {
    const ScratchFolder folder;
    const Player player;
    const auto may_wait = [&](const std::string& place, bool paced, bool live) {
        return RxOutputWriter({.packets = {folder / "out.ts", place}, .paced = paced, .live = live})
            .outputs()
            .may_wait;
    };
    CHECK(may_wait(player.url(), true, false));
    CHECK_FALSE(may_wait(player.url(), false, false));
    CHECK_FALSE(may_wait(player.url(), true, true));
    CHECK_FALSE(may_wait(folder / "more.ts", true, false));
    for (const bool told : {false, true}) {
        dvbs2::RxOutputs outputs{.streams = {.packets = [](auto, auto) {}}, .may_wait = told};
        CHECK(dvbs2::RxSink(std::move(outputs), {}).tasks().front().options.may_wait == told);
    }
}

TEST_CASE("rx outputs: RTP stamps follow the signal's clock, also without any clock in the packets") {
    const Player player;
    const std::string place = "rtp" + player.url().substr(3);
    REQUIRE(receive_in_order(small_recording().meta, {"--rate", "2M", "-o", place}).status == 0);
    const auto datagrams = player.datagrams();
    REQUIRE(datagrams.size() > 20);
    std::size_t full = 0;
    std::vector<std::uint32_t> stamps;
    for (const std::string& datagram : datagrams) {
        full += datagram.size() == 12 + 7 * 188 ? 1 : 0;
        std::uint32_t stamp = 0;
        for (std::size_t i = 4; i < 8; ++i) stamp = stamp << 8 | static_cast<unsigned char>(datagram[i]);
        stamps.push_back(stamp - (stamps.empty() ? 0 : stamps.front()));
    }
    CHECK(full + 3 >= datagrams.size());  // but where the stream begins and where it ends
    const double step = static_cast<double>(stamps.back()) / static_cast<double>(stamps.size() - 1);
    CHECK(step > 0);
    for (std::size_t i = 1; i < stamps.size(); ++i) {
        CAPTURE(i);
        CHECK(std::abs(stamps[i] - step * static_cast<double>(i)) < 3 * step);
    }
}

TEST_CASE("rx outputs: datagrams that come to nobody are counted and warned of") {
    const Ended ended = receive_in_order(small_recording().meta, {"-o", "udp://127.0.0.1:9"});
    REQUIRE(ended.status == 0);
    CHECK(Json::parse(ended.out)["outputs"][0]["datagrams_refused"].get<int>() > 10);
}

TEST_CASE("rx outputs: each stream of several has a place of its own") {
    CHECK(place_of_stream("out/video.ts", 7) == "out/video.isi7.ts");
    CHECK(place_of_stream("video", 0) == "video.isi0");
    CHECK(place_of_stream("udp://127.0.0.1:1000", 7) == "udp://127.0.0.1:1007");
    CHECK(place_of_stream("udp://[::1]:1000", 7) == "udp://[::1]:1007");
    CHECK(place_of_stream("udp://239.1.2.3:1000?ttl=4", 7) == "udp://239.1.2.3:1007?ttl=4");
    CHECK(place_of_stream("udp://127.0.0.1:65400", 135) == "udp://127.0.0.1:65535");
    CHECK_FALSE(place_of_stream("udp://127.0.0.1:65400", 136));
}

TEST_CASE("rx outputs: packets leave as datagrams of seven, BBFRAMEs as one each, and nothing is lost") {
    const ScratchFolder folder;
    const std::string plain = received_in_order(small_recording().meta, folder);
    const Player packets, frames;
    const Ended ended = receive_in_order(small_recording().meta,
                                         {"-o", packets.url(), "--unpaced", "--bbframes", frames.url()});
    REQUIRE_MESSAGE(ended.status == 0, ended.err);
    std::string joined;
    const auto datagrams = packets.datagrams();
    for (const std::string& datagram : datagrams) {
        CHECK(datagram.size() <= 1316);
        joined += datagram;
    }
    CHECK(joined == plain);
    const auto bbframes = frames.datagrams();
    CHECK(bbframes.size() == Json::parse(ended.out)["frames"]);
    for (const std::string& frame : bbframes) CHECK(frame.size() == 1779);
    // Nobody listens: the reception goes on.
    CHECK(receive_in_order(small_recording().meta, {"-o", "udp://127.0.0.1:9", "--unpaced"}).status == 0);
}

TEST_CASE("rx outputs: a place that takes nothing for long holds the stream up, and nothing is lost") {
    const ScratchFolder folder;
    const std::string plain = received_in_order(small_recording().meta, folder);
    REQUIRE(plain.size() > 2 * 4096);
    const std::string pipe = folder / "slow";
    REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
    auto late = std::async(std::launch::async, read_late, pipe);
    const Ended ended = receive_in_order(small_recording().meta, {"-o", pipe});
    REQUIRE_MESSAGE(ended.status == 0, ended.err);
    CHECK(late.get() == plain);
}

TEST_CASE("rx outputs: BBFRAMEs in a file hold the packets' data fields") {
    const ScratchFolder folder;
    const Ended ended = receive_in_order(small_recording().meta, {"--bbframes", folder / "frames"});
    REQUIRE_MESSAGE(ended.status == 0, ended.err);
    const std::string frames = ScratchFolder::content_of(folder / "frames");
    CHECK(frames.size() == 1779 * Json::parse(ended.out)["frames"].get<std::size_t>());
    CHECK(static_cast<unsigned char>(frames[0]) == 0xf2);  // a transport stream, single, CCM, roll-off 0.20
}

TEST_CASE("rx status: lines of JSON say what the receiver does, to the last") {
    const ScratchFolder folder;
    const Ended ended = receive_in_order(small_recording().meta, {"--status", folder / "status"});
    REQUIRE_MESSAGE(ended.status == 0, ended.err);
    std::istringstream lines(ScratchFolder::content_of(folder / "status"));
    std::uint64_t frames = 0;
    Json last;
    for (std::string line; std::getline(lines, line);) {
        last = Json::parse(line);
        frames += last["frames"].get<std::uint64_t>();
    }
    REQUIRE(last.is_object());
    const Json report = Json::parse(ended.out);
    CHECK(frames == report["frames"]);
    CHECK(last["modcod"] == "QPSK 8/9");
    CHECK(last["esn0_db"].get<double>() == doctest::Approx(9).epsilon(0.05));
    CHECK(last["margin_db"].get<double>() == doctest::Approx(9 - 6.2).epsilon(0.15));
    CHECK(std::abs(last["offset_hz"].get<double>()) < 100);
    CHECK(last["modcods"]["QPSK 8/9 short pilots"] == report["frames"]);
    CHECK(last["ts_packets"].get<std::uint64_t>() <= report["ts_packets"]);
    CHECK(last["continuity_errors"] == 0);
    // However long the reception took.
    CHECK(last["time_s"].get<double>() == doctest::Approx(small_recording().samples / 2e6));
    for (const char* key : {"lock", "clock_ppm", "iq_offset_db", "iq_image_db", "ldpc_iterations",
                            "bch_corrected_bits", "frames_bad", "programmes", "samples_clipped"}) {
        CAPTURE(key);
        CHECK(last.contains(key));
    }
}

TEST_CASE("rx: a lock is told with its place in the recording") {
    const ScratchFolder folder;
    const std::string path =
        folder.put("late.ci8", std::string(std::size_t{2} * 3 * 2'000'000, '\0') + small_recording().bytes());
    const Ended ended = run_program({"dvbs2", "rx", path, "--rate", "2M", "--executor", "sequence"});
    REQUIRE_MESSAGE(ended.status == 0, ended.err);
    CHECK(says(ended.err, "00:00:03   lock   QPSK 8/9 short"));
    CHECK(ended.out.starts_with("00:00:03   "));
}

TEST_CASE("rx report: a line for people, the whole of it with tables where they are wanted") {
    const auto report = [](const std::vector<std::string>& more) {
        std::vector<std::string> arguments{"dvbs2", "rx", internal::data_folder() + "/demo.sigmf-meta",
                                           "--executor", "sequence"};
        arguments.insert(arguments.end(), more.begin(), more.end());
        const Ended ended = run_program(arguments);
        REQUIRE_MESSAGE(ended.status == 0, ended.err);
        return ended.out;
    };
    const std::string line = report({});
    CHECK(std::ranges::count(line, '\n') == 1);
    CHECK(says(line, "   bad frames 0   continuity errors 0\n"));
    const std::string text = report({"--stats"});
    CHECK(says(text, "received   QPSK 3/4, normal frames, pilots on, 250000 symbols/s"));
    CHECK(says(text, "the rest of 1 cut off at the end"));
    CHECK_FALSE(says(text, "ts packets"));
    CHECK(says(text, "\nStages\n"));
    CHECK(says(report({"--isi", "5"}), "warning: --isi 5"));
}

TEST_CASE("rx outputs: what cannot be is refused") {
    const std::string& meta = small_recording().meta;
    CHECK(receive_in_order(meta, {"--isi", "256"}).status == 2);
    CHECK(receive_in_order(meta, {"--isi", "all", "-o", "-"}).status == 2);
    CHECK(receive_in_order(meta, {"-o", "-", "--bbframes", "-"}).status == 2);
    CHECK(receive_in_order(meta, {"-o", "udp://nobody"}).status == 2);
    CHECK(receive_in_order(meta, {"--damaged", "keep"}).status == 2);
    CHECK(receive_in_order(meta, {"--status", "/nowhere/status"}).status == 1);
}

TEST_CASE("rx inputs: standard input, an archive and another byte order give what the recording gives") {
    const ScratchFolder folder;
    const std::string plain = received_in_order(small_recording().meta, folder);
    const std::string out = folder / "out.ts";
    const std::string from_pipe = fmt::format(
        "cat '{}' | '{}' dvbs2 rx - --format ci8 --rate 2e6 -o '{}' --profile-seconds 0.01 >'{}' 2>&1",
        small_recording().data(), internal::program_path(), out, (folder / "log").string());
    CHECK_MESSAGE(std::system(from_pipe.c_str()) == 0, ScratchFolder::content_of(folder / "log"));
    CHECK(ScratchFolder::content_of(out) == plain);
    const std::string archive = folder / "small.sigmf";
    const std::string pack = fmt::format("tar -C '{}' -cf '{}' small.sigmf-meta small.sigmf-data",
                                         small_recording().folder.operator/("").string(), archive);
    REQUIRE(std::system(pack.c_str()) == 0);
    CHECK(receive_in_order(archive, {"-o", out}).status == 0);
    CHECK(ScratchFolder::content_of(out) == plain);
    const SmallRecording big_endian(dsp::SampleFormat::cf64_be);
    const Ended ended = receive_in_order(big_endian.meta, {"-o", out});
    REQUIRE_MESSAGE(ended.status == 0, ended.err);
    CHECK(big_endian.packets.find(ScratchFolder::content_of(out)) != std::string::npos);
    CHECK(run_program({"dvbs2", "rx", "-"}).status == 2);
}

TEST_CASE("rx search: symbol rate, gold code and roll-off are found where nobody knows them") {
    const ScratchFolder folder;
    const std::string sent = folder / "sent.ts";
    const std::string clean = folder / "clean.sigmf-meta";
    const std::string noisy = folder / "noisy.sigmf-meta";
    REQUIRE(run_program({"dvbs2", "tx", "--random", "700", "-o", clean, "--packets-output", sent, "--modcod",
                         "8PSK 2/3", "--frame", "short", "--pilots", "--gold", "4711", "--rolloff", "0.35"})
                .status == 0);
    REQUIRE(run_program({"dvbs2", "channel", clean, "-o", noisy, "--esn0", "10", "--cfo", "20e3",
                         "--rate-ratio", "1.37"})
                .status == 0);
    const Ended ended = receive_in_order(
        noisy, {"-o", folder / "out.ts", "--symbol-rate", "auto", "--gold", "auto", "--rolloff", "auto"});
    REQUIRE_MESSAGE(ended.status == 0, ended.err);
    const Json json = Json::parse(ended.out);
    CHECK(json["symbol_rate_hz"].get<double>() == doctest::Approx(1e6).epsilon(20e-6));
    CHECK(json["gold_code"] == 4711);
    CHECK(json["rolloff"].get<double>() == doctest::Approx(0.35));
    CHECK(ScratchFolder::content_of(sent).ends_with(ScratchFolder::content_of(folder / "out.ts")));
}

TEST_CASE(
    "rx search: where frames leave their roll-off open, it is that with which they have the least noise") {
    const ScratchFolder folder;
    const std::string path = folder / "open.sigmf-meta";
    const dvbs2::FrameModulator modulator({7, dvbs2::FrameSize::short_, true}, 0);
    std::vector<std::uint8_t> bbframe(modulator.bbframe_bytes(), 0x5a);
    const dvbs2::BbHeader header{.stream_type = dvbs2::StreamType::generic_continuous,
                                 .rolloff_code = 3,  // reserved
                                 .packet_bits = 0,
                                 .data_bits = static_cast<std::uint16_t>(8 * bbframe.size() - 80),
                                 .sync = 0};
    dvbs2::write_bb_header(header, std::span(bbframe).first<dvbs2::kBbHeaderBytes>());
    std::vector<dsp::Iq> frame(modulator.plframe_symbols()), received;
    modulator.modulate(bbframe, frame);
    dvbs2::PulseShaper shaper(2, 0.35);
    dvbs2::Channel channel({.esn0_db = 20, .frequency_cycles_per_symbol = 0.01});
    for (int i = 0; i < 40; ++i) channel.process(shaper.process(frame), received);
    channel.finish(received);
    io::SigmfMetadata description;
    description.format = dsp::SampleFormat::ci16;
    description.sample_rate_hz = 2e6;
    io::RecordingWriter writer(path, description, 0.2F);
    writer.write(received);
    writer.close();
    const Ended ended = receive_in_order(path, {"--generic", folder / "out.bin", "--rolloff", "auto"});
    REQUIRE_MESSAGE(ended.status == 0, ended.err);
    CHECK(Json::parse(ended.out)["rolloff"].get<double>() == doctest::Approx(0.35));
}

}  // namespace tidemill::cli
