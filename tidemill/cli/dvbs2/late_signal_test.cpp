// Signals that begin long after the first sample, in recordings and as they come.
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tidemill/io/transport/ts_packet.hpp"
#include "tidemill/testing/program.hpp"
#include "tidemill/testing/shell.hpp"
#include "tidemill/testing/small_recording.hpp"

namespace tidemill::cli {
namespace {

using namespace internal;
using Json = nlohmann::json;

// 3.5 s of noise, and 0.17 s of signal: what is looked at first holds nothing of it.
struct LateRecording {
    ScratchFolder folder;
    std::string samples = folder / "late.ci8";

    LateRecording() {
        const Ended made = run_program({"dvbs2", "channel", small_recording().meta, "-o", samples, "--esn0",
                                        "12", "--lead", "7000000", "--format", "ci8"});
        REQUIRE_MESSAGE(made.status == 0, made.err);
    }
};

const LateRecording& late_recording() {
    static const LateRecording recording;
    return recording;
}

const std::vector<std::vector<std::string>> kSearches{
    {"--symbol-rate", "auto"}, {"--carrier", "1"},
    {"--carrier", "all"},      {"--gold", "auto"},
    {"--rolloff", "auto"},     {"--symbol-rate", "auto", "--gold", "auto", "--rolloff", "auto"}};

std::string received_in(const ScratchFolder& folder, const std::string& name) {
    return ScratchFolder::content_of(folder / (name + ".ts")) +
           ScratchFolder::content_of(folder / (name + ".c1.ts"));
}

}  // namespace

TEST_CASE("scan: a carrier that begins after seconds of noise is named") {
    const Ended scanned = run_program({"dvbs2", "scan", late_recording().samples, "--rate", "2M", "--json"});
    REQUIRE_MESSAGE(scanned.status == 0, scanned.err);
    const Json carriers = Json::parse(scanned.out)["carriers"];
    REQUIRE(carriers.size() == 1);
    CHECK(carriers[0]["kind"] == "DVB-S2");
    CHECK(carriers[0]["modcod"] == "QPSK 8/9");
}

TEST_CASE("rx: whatever is searched is found where the signal begins after seconds of noise") {
    const ScratchFolder all;
    receive_in_order(small_recording().meta, {"-o", all / "all.ts"});
    for (const auto& search : kSearches) {
        CAPTURE(search);
        const ScratchFolder folder;
        std::vector<std::string> how{"--rate", "2M", "-o", folder / "recorded.ts"};
        how.insert(how.end(), search.begin(), search.end());
        const Ended ended = receive_in_order(late_recording().samples, how);
        REQUIRE_MESSAGE(ended.status == 0, ended.err);
        CHECK(received_in(folder, "recorded") == received_in(all, "all"));
    }
}

TEST_CASE(
    "rx: a live input is waited for until its signal has come, and that is received but for two frames") {
    constexpr std::size_t kTwoFrames = 20 * io::kTsPacketBytes;
    for (const auto& search : kSearches) {
        CAPTURE(search);
        const ScratchFolder folder;
        std::string options;
        for (const std::string& word : search) options += " " + word;
        const int status = run_shell(fmt::format(
            "cat {} | $tidemill dvbs2 rx - --format ci8 --rate 2M --executor sequence -o {}{} 2>{} >&2",
            late_recording().samples, std::string(folder / "live.ts"), options,
            std::string(folder / "said")));
        const std::string said = ScratchFolder::content_of(folder / "said");
        REQUIRE_MESSAGE(status == 0, said);
        CHECK(says(said, "no signal yet: waiting for one"));
        const std::string received = received_in(folder, "live");
        CHECK(small_recording().packets.find(received) != std::string::npos);
        CHECK(received.size() + kTwoFrames > 384 * io::kTsPacketBytes);
    }
}

TEST_CASE("rx: where nothing can be received it is told what is there instead") {
    const ScratchFolder folder;
    const std::string scrambled = folder / "scrambled.sigmf-meta";
    REQUIRE(run_program({"dvbs2", "tx", "--random", "300", "--modcod", "QPSK 3/4", "--frame", "short",
                         "--pilots", "--gold", "7", "-o", scrambled})
                .status == 0);
    const std::string code = receive_in_order(scrambled).err;
    CHECK_MESSAGE(says(code, "gold code 7: give --gold 7"), code);
    CHECK_FALSE(says(code, "too weak"));
    const std::string elsewhere = folder / "elsewhere.sigmf-meta";
    REQUIRE(run_program({"dvbs2", "channel", small_recording().meta, "-o", elsewhere, "--rate-ratio", "3",
                         "--cfo", "1.5M", "--esn0", "15"})
                .status == 0);
    const std::string place = receive_in_order(elsewhere, {"--symbol-rate", "1.5M"}).err;
    CHECK_MESSAGE(says(place, "give --offset +1500.0k --symbol-rate 1000000"), place);
}

TEST_CASE("rx: a live input that ends without the signal is one in which nothing was found") {
    const std::string noise = late_recording().folder / "noise.ci8";
    const int status = run_shell(
        fmt::format("head -c 10000000 {} >{}; $tidemill dvbs2 rx - --format ci8 --rate 2M --symbol-rate auto "
                    "-o /dev/null <{} 2>/dev/null",
                    late_recording().samples, noise, noise));
    CHECK(status == 1);
}

}  // namespace tidemill::cli
