#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "tidemill/cli/internal/program.hpp"
#include "tidemill/testing/scratch_folder.hpp"

namespace tidemill::cli {
namespace {

using namespace internal;
using Json = nlohmann::json;

std::string clean_recording(const ScratchFolder& folder, const std::string& modcod = "16APSK 3/4") {
    const std::string clean = folder / "clean.sigmf-meta";
    const Ended sent = run_program({"dvbs2", "tx", "--random", "200", "-o", clean, "--modcod", modcod,
                                    "--frame", "short", "--pilots", "--format", "ci16"});
    REQUIRE_MESSAGE(sent.status == 0, sent.err);
    return clean;
}

/// A clean recording behind a channel, and what rx tells of it.
struct Heard {
    Json json;
    std::string stats;
};

Heard heard_through(const std::string& modcod, const std::vector<std::string>& channel) {
    const ScratchFolder folder;
    const std::string noisy = folder / "noisy.sigmf-meta";
    std::vector<std::string> make{"dvbs2", "channel", clean_recording(folder, modcod), "-o", noisy};
    make.insert(make.end(), channel.begin(), channel.end());
    const Ended made = run_program(make);
    REQUIRE_MESSAGE(made.status == 0, made.err);
    const auto receive = [&](const char* how) {
        const Ended ended = run_program({"dvbs2", "rx", noisy, "--executor", "sequence", how});
        REQUIRE_MESSAGE(ended.status == 0, ended.err);
        return ended;
    };
    const Ended told = receive("--stats");
    return {Json::parse(receive("--json").out), told.out + told.err};
}

double number(const Json& value) {
    return value.get<double>();
}

}  // namespace

TEST_CASE(
    "channel: what a receiver adds to I and Q is told by rx and taken out, a dropout costs its frames only") {
    const Json json = heard_through("16APSK 3/4", {"--esn0", "14", "--lead", "9000", "--tail", "9000", "--dc",
                                                   "0.3,-0.4", "--iq-gain", "1", "--iq-angle", "-4", "--echo",
                                                   "2.5,-30,45", "--dropout", "60000,2000"})
                          .json;
    CHECK(number(json["iq_offset_db"]) == doctest::Approx(-6.3).epsilon(0.1));
    CHECK(number(json["iq_image_db"]) == doctest::Approx(-23.6).epsilon(0.1));
    CHECK(json["frames"].get<int>() >= 20);
    CHECK(json["losses"]["frames_bad"].get<int>() <= 2);
    CHECK(json["losses"]["continuity_errors"] == 1);
}

TEST_CASE("channel: pulses are told by rx with their share of the samples, and cost hardly a frame") {
    const auto [json, stats] =
        heard_through("QPSK 3/4", {"--esn0", "9", "--pulses", "10000,100,20", "--random-pulses"});
    const Json& losses = json["losses"];
    CHECK(number(losses["pulses_percent"]) == doctest::Approx(1.05).epsilon(0.15));
    CHECK(losses["samples_blanked"].get<int>() > 1000);
    CHECK(losses["frames_bad"].get<int>() <= 1);
    CHECK(says(stats, "pulses: 1"));
    CHECK(says(stats, "% of the samples blanked"));
}

TEST_CASE("channel: an echo is told by rx with its place and its strength, and costs no frame") {
    const auto [json, stats] = heard_through("QPSK 3/4", {"--esn0", "7", "--echo", "3.3,-6,57"});
    CHECK(number(json["echo_symbols"]) == doctest::Approx(3.3).epsilon(0.1));
    CHECK(number(json["echo_db"]) == doctest::Approx(-6).epsilon(0.15));
    CHECK(json["frames_equalised"] == json["frames"]);
    CHECK(json["losses"]["frames_bad"] == 0);
    CHECK(json["losses"]["frames_hurried"] == 0);
    CHECK(says(stats, "echo of -6 dB at 3.3 symbols: equalised"));
}

TEST_CASE(
    "channel: samples that are missing are told by rx, to the sample, and what comes behind is received") {
    const auto [json, stats] =
        heard_through("QPSK 3/4", {"--esn0", "9", "--lose", "150001,1235", "--lose", "250000,40"});
    CHECK(json["gaps"] == 2);
    CHECK(json["gaps_at_least"] == 2);  // random packets have no clock that could tell of whole frames
    CHECK(json["gap_samples"] == 1275);
    CHECK(number(json["gap_last_s"]) == doctest::Approx(0.125).epsilon(0.05));
    CHECK(json["losses"]["frames_bad"].get<int>() <= 4);
    CHECK(says(stats, "gaps: at least 1275 samples missing at 2 places"));
}

TEST_CASE("channel: a drift is told by rx") {
    const Json json = heard_through("QPSK 3/4", {"--esn0", "9", "--drift", "40000"}).json;
    CHECK(number(json["drift_hz_per_s"]) == doctest::Approx(40000).epsilon(0.1));
}

TEST_CASE("channel: the Es/N0 is that of the signal, however long the noise before it lasts") {
    const ScratchFolder folder;
    const std::string led = folder / "led.sigmf-meta", noisy = folder / "noisy.sigmf-meta";
    const std::string clean = clean_recording(folder, "QPSK 3/4");
    for (const std::vector<std::string>& call :
         {std::vector<std::string>{clean, "-o", led, "--esn0", "30", "--lead", "2000000"},
          std::vector<std::string>{led, "-o", noisy, "--esn0", "10", "--seed", "2"}}) {
        std::vector<std::string> arguments{"dvbs2", "channel"};
        arguments.insert(arguments.end(), call.begin(), call.end());
        const Ended made = run_program(arguments);
        REQUIRE_MESSAGE(made.status == 0, made.err);
    }
    const Ended ended = run_program({"dvbs2", "rx", noisy, "--executor", "sequence", "--json"});
    REQUIRE_MESSAGE(ended.status == 0, ended.err);
    CHECK(number(Json::parse(ended.out)["esn0_db"]) == doctest::Approx(10).epsilon(0.05));
}

TEST_CASE("channel: what no channel does is refused with the option's name") {
    const ScratchFolder folder;
    const std::string clean = clean_recording(folder);
    const auto refused = [&](const std::vector<std::string>& more, const std::string& words) {
        std::vector<std::string> arguments{"dvbs2", "channel", clean, "-o", folder / "out.sigmf-meta"};
        arguments.insert(arguments.end(), more.begin(), more.end());
        const Ended ended = run_program(arguments);
        CHECK(ended.status == 2);
        CHECK(says(ended.err, words));
    };
    refused({"--echo", "3"}, "--echo 3: give two or three numbers");
    refused({"--echo", "3,-10,0,1"}, "--echo 3,-10,0,1");
    refused({"--echo", "a,b"}, "--echo a: give numbers");
    refused({"--dropout", "5"}, "--dropout 5: give two numbers");
    refused({"--dc", "1"}, "--dc 1: give two numbers");
    refused({"--echo=-3,-10"}, "impossible channel");
    refused({"--iq-angle", "90"}, "impossible channel");
    refused({"--pulses", "100,200,9"}, "impossible channel");
    refused({"--tone", "1"}, "--tone 1: give two or three numbers");
    refused({"--steps", "1,2,3"}, "--steps 1,2,3: give two numbers");
    refused({"--lose=-1,3"}, "--lose -1,3");
}

}  // namespace tidemill::cli
