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

}  // namespace

TEST_CASE(
    "channel: what a receiver adds to I and Q is told by rx and taken out, a dropout costs its frames only") {
    const ScratchFolder folder;
    const std::string noisy = folder / "noisy.sigmf-meta";
    const Ended made = run_program({"dvbs2",      "channel",   clean_recording(folder),
                                    "-o",         noisy,       "--esn0",
                                    "14",         "--lead",    "9000",
                                    "--tail",     "9000",      "--dc",
                                    "0.3,-0.4",   "--iq-gain", "1",
                                    "--iq-angle", "-4",        "--echo",
                                    "2.5,-30,45", "--dropout", "60000,2000"});
    REQUIRE_MESSAGE(made.status == 0, made.err);
    const Ended ended = run_program({"dvbs2", "rx", noisy, "--executor", "sequence", "--json"});
    REQUIRE_MESSAGE(ended.status == 0, ended.err);
    const Json json = Json::parse(ended.out);
    CHECK(json["iq_offset_db"].get<double>() == doctest::Approx(-6.3).epsilon(0.1));
    CHECK(json["iq_image_db"].get<double>() == doctest::Approx(-23.6).epsilon(0.1));
    CHECK(json["frames"].get<int>() >= 20);
    CHECK(json["losses"]["frames_bad"].get<int>() <= 2);
    CHECK(json["losses"]["continuity_errors"] == 1);
}

TEST_CASE("channel: pulses are told by rx with their share of the samples, and cost hardly a frame") {
    const ScratchFolder folder;
    const std::string noisy = folder / "noisy.sigmf-meta";
    const Ended made = run_program({"dvbs2", "channel", clean_recording(folder, "QPSK 3/4"), "-o", noisy,
                                    "--esn0", "9", "--pulses", "10000,100,20", "--random-pulses"});
    REQUIRE_MESSAGE(made.status == 0, made.err);
    const Ended ended = run_program({"dvbs2", "rx", noisy, "--executor", "sequence", "--json"});
    REQUIRE_MESSAGE(ended.status == 0, ended.err);
    const Json losses = Json::parse(ended.out)["losses"];
    CHECK(losses["pulses_percent"].get<double>() == doctest::Approx(1.05).epsilon(0.15));
    CHECK(losses["samples_blanked"].get<int>() > 1000);
    CHECK(losses["frames_bad"].get<int>() <= 1);
    const Ended told = run_program({"dvbs2", "rx", noisy, "--executor", "sequence", "--stats"});
    CHECK(says(told.out + told.err, "pulses: 1"));
    CHECK(says(told.out + told.err, "% of the samples blanked"));
}

TEST_CASE("channel: an echo is told by rx with its place and its strength, and costs no frame") {
    const ScratchFolder folder;
    const std::string noisy = folder / "noisy.sigmf-meta";
    const Ended made = run_program({"dvbs2", "channel", clean_recording(folder, "QPSK 3/4"), "-o", noisy,
                                    "--esn0", "7", "--echo", "3.3,-6,57"});
    REQUIRE_MESSAGE(made.status == 0, made.err);
    const Ended ended = run_program({"dvbs2", "rx", noisy, "--executor", "sequence", "--json"});
    REQUIRE_MESSAGE(ended.status == 0, ended.err);
    const Json json = Json::parse(ended.out);
    CHECK(json["echo_symbols"].get<double>() == doctest::Approx(3.3).epsilon(0.1));
    CHECK(json["echo_db"].get<double>() == doctest::Approx(-6).epsilon(0.15));
    CHECK(json["frames_equalised"] == json["frames"]);
    CHECK(json["losses"]["frames_bad"] == 0);
    CHECK(json["losses"]["frames_hurried"] == 0);
    const Ended told = run_program({"dvbs2", "rx", noisy, "--executor", "sequence", "--stats"});
    CHECK(says(told.out + told.err, "echo of -6 dB at 3.3 symbols: equalised"));
}

TEST_CASE(
    "channel: samples that are missing are told by rx, to the sample, and what comes behind is received") {
    const ScratchFolder folder;
    const std::string noisy = folder / "noisy.sigmf-meta";
    const Ended made = run_program({"dvbs2", "channel", clean_recording(folder, "QPSK 3/4"), "-o", noisy,
                                    "--esn0", "9", "--lose", "150001,1235", "--lose", "250000,40"});
    REQUIRE_MESSAGE(made.status == 0, made.err);
    const Ended ended = run_program({"dvbs2", "rx", noisy, "--executor", "sequence", "--json"});
    REQUIRE_MESSAGE(ended.status == 0, ended.err);
    const Json report = Json::parse(ended.out);
    CHECK(report["gaps"] == 2);
    CHECK(report["gaps_at_least"] == 2);  // random packets have no clock that could tell of whole frames
    CHECK(report["gap_samples"] == 1275);
    CHECK(report["gap_last_s"].get<double>() == doctest::Approx(0.125).epsilon(0.05));
    CHECK(report["losses"]["frames_bad"].get<int>() <= 4);
    const Ended told = run_program({"dvbs2", "rx", noisy, "--executor", "sequence", "--stats"});
    CHECK(says(told.out + told.err, "gaps: at least 1275 samples missing at 2 places"));
}

TEST_CASE("channel: a drift is told by rx") {
    const ScratchFolder folder;
    const std::string noisy = folder / "noisy.sigmf-meta";
    const Ended made = run_program({"dvbs2", "channel", clean_recording(folder, "QPSK 3/4"), "-o", noisy,
                                    "--esn0", "9", "--drift", "40000"});
    REQUIRE_MESSAGE(made.status == 0, made.err);
    const Ended ended = run_program({"dvbs2", "rx", noisy, "--executor", "sequence", "--json"});
    REQUIRE_MESSAGE(ended.status == 0, ended.err);
    CHECK(Json::parse(ended.out)["drift_hz_per_s"].get<double>() == doctest::Approx(40000).epsilon(0.1));
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
