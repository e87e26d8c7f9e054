// The commands of docs/guides/radio.md and its pages work: on recordings by the names that they use, and with
// servers of the test's own in place of a radio or another host. Nothing of it leaves this machine.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <regex>
#include <span>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <sys/socket.h>

#include "tidemill/base/cli_error.hpp"
#include "tidemill/dvbs2/receiver/testing/wide_band.hpp"
#include "tidemill/io/recordings/sigmf.hpp"
#include "tidemill/testing/loopback_server.hpp"
#include "tidemill/testing/scratch_folder.hpp"
#include "tidemill/testing/shell.hpp"

namespace tidemill::cli {
namespace {

using namespace internal;
using dvbs2::internal::BandCarrier;
namespace fs = std::filesystem;

constexpr double kBandRateHz = 2e6, kDongleRateHz = 2.4e6;

// The commands of all blocks for a shell, each in one line.
std::vector<std::string> commands_in(const fs::path& document) {
    std::istringstream text(ScratchFolder::content_of(document));
    std::vector<std::string> commands;
    bool in_block = false, goes_on = false;
    for (std::string line; std::getline(text, line);) {
        if (line.starts_with("```")) {
            in_block = line == "```sh";
            continue;
        }
        if (!in_block) continue;
        const bool continued = line.ends_with('\\');
        if (continued) line.pop_back();
        if (goes_on) {
            commands.back() += line;
        } else {
            commands.push_back(line);
        }
        goes_on = continued;
    }
    return commands;
}

std::string text_of(const std::vector<std::byte>& bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::string as_floats(std::span<const dsp::Iq> samples) {
    std::string bytes(samples.size_bytes(), '\0');
    std::memcpy(bytes.data(), samples.data(), bytes.size());
    return bytes;
}

std::string as_cu8(std::span<const dsp::Iq> samples) {
    std::string bytes;
    for (const dsp::Iq& sample : samples)
        for (const float part : {sample.real(), sample.imag()})
            bytes += static_cast<char>(std::lround(std::clamp(127.5F + 25 * part, 0.0F, 255.0F)));
    return bytes;
}

std::string little_endian(std::uint64_t value, std::size_t bytes) {
    std::string text;
    for (std::size_t i = 0; i < bytes; ++i) text += static_cast<char>(value >> (8 * i));
    return text;
}

// 16 bits of I and Q.
std::string as_wav(const std::string& samples, double rate_hz) {
    const auto rate = static_cast<std::uint64_t>(rate_hz);
    return "RIFF" + little_endian(36 + samples.size(), 4) + "WAVEfmt " + little_endian(16, 4) +
           little_endian(1, 2) + little_endian(2, 2) + little_endian(rate, 4) + little_endian(4 * rate, 4) +
           little_endian(4, 2) + little_endian(16, 2) + "data" + little_endian(samples.size(), 4) + samples;
}

// With the CRC of Ethernet and zip over what is before it.
std::string as_sdriq(const std::string& samples, double rate_hz) {
    std::string header = little_endian(static_cast<std::uint64_t>(rate_hz), 4) +
                         little_endian(741'500'000, 8) + little_endian(0, 8) + little_endian(16, 4) +
                         little_endian(0, 4);
    std::uint32_t crc = 0xffffffff;
    for (const char byte : header) {
        crc ^= static_cast<std::uint8_t>(byte);
        for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ ((crc & 1) != 0 ? 0xedb88320U : 0U);
    }
    return header + little_endian(~crc, 4) + samples;
}

std::vector<dsp::Iq> band(double rate_hz, const std::vector<BandCarrier>& carriers, double seconds = 1.2) {
    return dvbs2::internal::make_band({.sample_rate_hz = rate_hz, .seconds = seconds, .esn0_db = 12},
                                      carriers)
        .samples;
}

/// Hands samples to all who connect, one after the other, until it is destroyed.
class Server {
  public:
    Server(std::string greeting, std::string samples)
        : thread_([this, greeting = std::move(greeting), samples = std::move(samples)] {
              for (int socket = server_.accept(); !ends_ && socket >= 0; socket = server_.accept()) {
                  const LoopbackPeer peer(socket);
                  peer.send(greeting);
                  peer.send(samples);
                  if (!stays_) ::shutdown(peer.socket(), SHUT_WR);
                  peer.receive(1 << 20);  // the bytes that it gets, until the other end has gone
              }
          }) {}
    Server(const Server&) = delete;
    Server& operator=(const Server&) = delete;
    ~Server() {
        ends_ = true;
        const LoopbackPeer last(LoopbackPeer::connect(port()));
        thread_.join();
    }
    std::uint16_t port() const { return server_.port(); }
    /// Whether the connection is kept when all samples are sent.
    void stay(bool stays) { stays_ = stays; }

  private:
    LoopbackServer server_;
    std::atomic<bool> ends_{false};
    std::atomic<bool> stays_{false};
    std::thread thread_;
};

// A receiver of a connection connects again where it is closed.
constexpr const char* kUntilNothingComes = " --exit-on no-samples:1s";

bool is_for_ever(const std::string& line) {
    return std::regex_search(line, std::regex(" rx (rtl_)?tcp://"));
}

/// A folder with everything that the documents name, and what stands for the rest.
class Bench {
  public:
    Bench()
        : dongle_(std::string("RTL0\0\0\0\5\0\0\0\35", 12), as_cu8(beside())),
          server_({}, text_of(dvbs2::internal::as_ci16(band(kBandRateHz, {{.symbol_rate_hz = 1e6}})))) {
        put_recordings();
        put("rtl.cu8", as_cu8(band(kDongleRateHz, {{.symbol_rate_hz = 1.5e6}})));
        put("rtl_sdr", "#!/bin/sh\nexec cat rtl.cu8\n");
        fs::permissions(folder_ / "rtl_sdr", fs::perms::owner_all);
        put("video.ts", ScratchFolder::content_of(fs::path(data_folder()) / "demo.ts"));
        put("track.txt", "0 0\n2 100\n");
        put("password", "correct horse\n");
        fs::create_symlink(program_path(), folder_ / "tidemill");
    }

    int run(std::string line, bool until_interrupted) {
        for (Server* const server : {&dongle_, &server_}) server->stay(is_for_ever(line));
        const std::string limit = until_interrupted ? "timeout -s INT 2 " : "timeout 120 ";
        line = std::regex_replace(line, std::regex("\\btidemill "), limit + "./tidemill ");
        const std::string quiet = fmt::format(" >out 2>err </dev/null");
        return run_shell(
            fmt::format("cd '{}'; PATH=\"$PWD:$PATH\"; export SOAPY_SDR_PLUGIN_PATH=\"$PWD\"; {{ {}; }} {}",
                        std::string(folder_ / ""), line, quiet));
    }

    // A line of a document, with places of this machine for those of others.
    std::string here(std::string line) const {
        const std::vector<std::pair<std::string, std::string>> places{
            {"rtl_tcp://127\\.0\\.0\\.1(:1234)?", fmt::format("rtl_tcp://127.0.0.1:{}", dongle_.port())},
            {"tcp://192\\.168\\.1\\.20:7355", fmt::format("tcp://127.0.0.1:{}", server_.port())},
            {"'?(vita49|zmq)://[^' ]*'?", "$1://127.0.0.1:9"},
            {"driver=[a-z0-9,.=-]*", "driver=none"},
            {"^tidemill radio$", "tidemill radio driver=none"},
            {"0\\.0\\.0\\.0:8080", "127.0.0.1"},
            {"tcp-listen://127\\.0\\.0\\.1:5001",
             fmt::format("tcp-listen://127.0.0.1:{}", LoopbackServer().port())},
            {" &$", ""}};
        for (const auto& [theirs, ours] : places) line = std::regex_replace(line, std::regex(theirs), ours);
        return is_for_ever(line) ? line + kUntilNothingComes : line;
    }

    std::string said() const { return ScratchFolder::content_of(folder_ / "err"); }

  private:
    // As a radio hears the carrier beside which it was put: as much as the ring holds of one that does not
    // wait.
    static std::vector<dsp::Iq> beside() {
        return band(kDongleRateHz, {{.symbol_rate_hz = 333e3, .offset_hz = 249'775}}, 0.45);
    }

    void put(const std::string& name, const std::string& content) const { folder_.put(name, content); }

    void put_recordings() const {
        const auto all = band(kBandRateHz, {{.symbol_rate_hz = 333e3, .offset_hz = -500e3},
                                            {.symbol_rate_hz = 250e3, .offset_hz = 30e3},
                                            {.symbol_rate_hz = 333e3, .offset_hz = 400e3}});
        const std::string samples = text_of(dvbs2::internal::as_ci16(all));
        io::SigmfMetadata metadata;
        metadata.format = dsp::SampleFormat::ci16;
        metadata.sample_rate_hz = kBandRateHz;
        fs::create_directory(folder_ / "losses");
        for (const std::string name : {"pass", "losses/loss.20261123T114500Z"}) {
            put(name + ".sigmf-meta", io::format_sigmf(metadata));
            put(name + ".sigmf-data", samples);
        }
        put("baseband_741500000Hz_12-30-00_01-02-2023.wav", as_wav(samples, kBandRateHz));
        put("gqrx_20230405_120000_741500000_2000000_fc.raw", as_floats(all));
        put("2023-01-01_12-00-00_2000000SPS_741500000Hz.cs16", samples);
        put("pass.sdriq", as_sdriq(samples, kBandRateHz));
        put("pass.cf32", as_floats(all));
        put("pass.dat", samples);
    }

    ScratchFolder folder_;
    Server dongle_, server_;
};

// Lines that need a radio, or another host that never comes, are only parsed.
bool has_other_end(const std::string& line) {
    return line.find("://127.0.0.1:9") == std::string::npos && line.find("driver=none") == std::string::npos;
}

bool is_of_ours(const std::string& line) {
    return line.starts_with("tidemill ") || line.find("| tidemill ") != std::string::npos ||
           line.starts_with("mkdir");
}

}  // namespace

TEST_CASE("docs: every command of docs/guides/radio.md and its pages works, on recordings by these names") {
    Bench bench;
    const fs::path docs = fs::path(data_folder()).parent_path() / "docs/guides";
    std::vector<fs::path> documents{docs / "radio.md"};
    for (const auto& entry : fs::directory_iterator(docs / "radio")) documents.push_back(entry.path());
    std::size_t worked = 0, understood = 0;
    for (const fs::path& document : documents) {
        for (const std::string& told : commands_in(document)) {
            if (!is_of_ours(told)) continue;
            CAPTURE(told);
            const std::string line = bench.here(told);
            const bool works = has_other_end(line);
            const int status = bench.run(line, !works);
            INFO(bench.said());
            if (bench.said().find("was built without its page") != std::string::npos) {
                MESSAGE("skipped, no page: " << told);
                continue;
            }
            if (works && !told.starts_with("mkdir")) {
                CHECK(status == (is_for_ever(line) ? kEndedByPolicy : kDone));
                ++worked;
            } else if (!works) {
                CHECK(status != 2);
                CHECK(status < 125);
                ++understood;
            }
        }
    }
    CHECK(worked >= 15);
    CHECK(understood >= 8);
}

}  // namespace tidemill::cli
