#include <cmath>
#include <fstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "tidemill/io/testing/made_services.hpp"
#include "tidemill/testing/program.hpp"
#include "tidemill/testing/scratch_folder.hpp"
#include "tidemill/testing/small_recording.hpp"

namespace tidemill::cli {
namespace {

using namespace internal;
using Json = nlohmann::json;

const std::string kHostileName = "<img onerror=x>\x1b[2J";

// A programme's packets, and between them a table with the names of two services.
void write_services(const std::string& path) {
    const auto table = io::internal::made_services({{1, "CQ-TV"}, {2, kHostileName}});
    std::string stream;
    for (int k = 0; k < 300; ++k) {
        stream.append(table.begin(), table.end());
        std::string packet(io::kTsPacketBytes, static_cast<char>(k));
        packet.replace(0, 4, {0x47, 0x01, 0x00, static_cast<char>(0x10 | (k & 15))});
        stream += packet;
    }
    std::ofstream(path, std::ios::binary) << stream;
}

// 250 kBd at +600 kHz in 2 MS/s, 16 bits without a word about them.
struct WideRecording {
    ScratchFolder folder;
    std::string samples = folder / "wide.ci16";
    std::string sent = folder / "sent.ts";

    WideRecording() {
        const std::string input = folder / "input.ts", clean = folder / "clean.cf32";
        write_services(input);
        const Ended made =
            run_program({"dvbs2", "tx", input, "-o", clean, "--modcod", "QPSK 2/3", "--frame", "short",
                         "--pilots", "--symbol-rate", "250k", "--repeat", "3", "--packets-output", sent});
        REQUIRE_MESSAGE(made.status == 0, made.err);
        const Ended received =
            run_program({"dvbs2", "channel", clean, "-o", samples, "--rate", "500k", "--rate-ratio", "4",
                         "--symbol-rate", "250k", "--cfo", "600k", "--esn0", "10", "--tail", "20000"});
        REQUIRE_MESSAGE(received.status == 0, received.err);
    }
};

const WideRecording& wide_recording() {
    static const WideRecording recording;
    return recording;
}

}  // namespace

TEST_CASE("scan: a carrier is named with all that it sends, names off the air are plain text") {
    const Ended told = run_program({"dvbs2", "scan", wide_recording().samples, "--rate", "2M"});
    REQUIRE_MESSAGE(told.status == 0, told.err);
    for (const char* part : {"+600.0 kHz", "250.0 kBd", "QPSK 2/3", "short, pilots", "10.", "\"CQ-TV\"",
                             "<img onerror=x>\\x1b[2J", "receive one:  tidemill dvbs2 rx "})
        CHECK_MESSAGE(says(told.out, part), told.out);
    CHECK(told.out.find('\x1b') == std::string::npos);
    const Ended ended = run_program({"dvbs2", "scan", wide_recording().samples, "--rate", "2M", "--json"});
    const Json json = Json::parse(ended.out);
    REQUIRE(json["carriers"].size() == 1);
    const Json& carrier = json["carriers"][0];
    CHECK(carrier["kind"] == "DVB-S2");
    CHECK(std::abs(carrier["offset_hz"].get<double>() - 600e3) < 100);
    CHECK(std::abs(carrier["symbol_rate_hz"].get<double>() - 250e3) < 5);
    CHECK(carrier["streams"][0]["services"][1]["name"] == "<img onerror=x>\\x1b[2J");
    CHECK(carrier["options"] == "--offset +600.0k --symbol-rate 250000");
}

TEST_CASE("scan, rx: where a recording tells the frequency of its middle, that of the carrier is told") {
    const std::string demo = internal::data_folder() + "/demo.sigmf-meta";  // at 1200 MHz
    CHECK(says(run_program({"dvbs2", "scan", demo}).out, "+7.5 kHz    1200.0075 MHz        250.0 kBd  QPSK"));
    const Json scanned = Json::parse(run_program({"dvbs2", "scan", demo, "--json"}).out)["carriers"][0];
    CHECK(scanned["frequency_hz"] == 1.2e9 + scanned["offset_hz"].get<double>());
    const Json received = Json::parse(receive_in_order(demo).out);
    CHECK(received["frequency_hz"] == 1.2e9 + received["frequency_offset_hz"].get<double>());
    CHECK(says(run_program({"dvbs2", "rx", demo, "--executor", "sequence", "--stats"}).out,
               "Hz, at 1200.0075"));
    CHECK(Json::parse(receive_in_order(small_recording().meta).out)["frequency_hz"].is_null());
}

TEST_CASE("scan: what it says receives, and so does auto, wherever the carrier is") {
    const std::string sent = ScratchFolder::content_of(wide_recording().sent);
    for (const std::vector<std::string>& how :
         {std::vector<std::string>{"--offset", "+600.0k", "--symbol-rate", "250000"},
          {"--symbol-rate", "auto"},
          {"--symbol-rate", "auto", "--offset", "590k"}}) {
        const ScratchFolder folder;
        std::vector<std::string> call{"dvbs2",  "rx", wide_recording().samples, "--rate",     "2M",
                                      "--json", "-o", folder / "out.ts",        "--executor", "sequence"};
        call.insert(call.end(), how.begin(), how.end());
        const Ended ended = run_program(call);
        REQUIRE_MESSAGE(ended.status == 0, ended.err);
        const std::string got = ScratchFolder::content_of(folder / "out.ts");
        CHECK(sent.size() - got.size() < 12 * io::kTsPacketBytes);
        CHECK(sent.ends_with(got));
        CHECK(std::abs(Json::parse(ended.out)["frequency_offset_hz"].get<double>() - 600e3) < 10);
    }
}

TEST_CASE(
    "scan, rx: a carrier of nothing but dummy frames is named, and what they do not tell is asked for") {
    const ScratchFolder folder;
    const std::string input = folder / "input.ts", clean = folder / "clean.cf32", idle = folder / "idle.ci8";
    write_services(input);
    const Ended made = run_program({"dvbs2", "tx", input, "-o", clean, "--modcod", "QPSK 3/4", "--idle",
                                    "dummy", "--input-rate", "1e-9", "--duration", "0.15"});
    REQUIRE_MESSAGE(made.status == 0, made.err);
    REQUIRE(run_program({"dvbs2", "channel", clean, "-o", idle, "--rate", "2M", "--symbol-rate", "1M",
                         "--esn0", "10"})
                .status == 0);
    const Ended told = run_program({"dvbs2", "scan", idle, "--rate", "2M"});
    CHECK_MESSAGE(says(told.out, "nothing but dummy frames"), told.out);
    const auto refusal = [&](const char* option) {
        return run_program({"dvbs2", "rx", idle, "--rate", "2M", "-o", folder / "no.ts", option, "auto"}).err;
    };
    CHECK(says(refusal("--gold"), "dummy frames, which have no pilots; give --gold"));
    CHECK(says(refusal("--rolloff"), "nothing but dummy frames, which do not carry it; give --rolloff"));
}

TEST_CASE("scan: noise holds nothing, and a band whose rate nobody told is asked for") {
    const ScratchFolder folder;
    std::string noise(1 << 18, '\0');
    unsigned state = 1;
    for (char& byte : noise) byte = static_cast<char>((state = state * 1664525 + 1013904223) >> 24);
    std::ofstream(folder / "noise.ci8", std::ios::binary) << noise;
    const Ended none = run_program({"dvbs2", "scan", folder / "noise.ci8", "--rate", "1M"});
    CHECK(none.status == 1);
    CHECK(none.out == "no carrier found\n");
    const Ended asked = run_program({"dvbs2", "scan", folder / "noise.ci8"});
    CHECK(asked.status == 2);
    CHECK(says(asked.err, "give --sample-rate"));
}

}  // namespace tidemill::cli
