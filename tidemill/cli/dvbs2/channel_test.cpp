#include <filesystem>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "tidemill/testing/program.hpp"
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

/// A clean recording behind a channel, and the report of rx on it.
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
    CHECK(json["gaps_at_least"] == 2);  // random packets have no clock that could show whole frames
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

TEST_CASE("channel: behind an echo, frames of two kinds without pilots are all received") {
    const ScratchFolder folder;
    const std::string sent = folder / "sent.sigmf-meta", heard = folder / "heard.sigmf-meta";
    const auto run = [](const std::vector<std::string>& arguments) {
        const Ended ended = run_program(arguments);
        REQUIRE_MESSAGE(ended.status == 0, ended.err);
        return ended.out;
    };
    run({"dvbs2", "tx", "--random", "300", "-o", sent, "--plan", "16APSK 3/4 short, QPSK 1/2 short"});
    run({"dvbs2", "channel", sent, "-o", heard, "--esn0", "17", "--echo", "3.3,-6,57"});
    const Json told = Json::parse(run({"dvbs2", "rx", heard, "--executor", "sequence", "--json"}));
    CHECK(told["frames"] > 40);
    CHECK(told["frames_equalised"] > 40);
    CHECK(told["frames_bad"] <= 1);
}

TEST_CASE("channel: what no channel does, or not to this recording, is refused with the option's name") {
    const ScratchFolder folder;
    const std::string clean = clean_recording(folder);  // at 2 MHz
    const std::string out = folder / "out.sigmf-meta";
    struct Refused {
        std::vector<std::string> options;
        std::string words;
    };
    for (const auto& [options, words] : std::vector<Refused>{
             {{"--echo", "3"}, "--echo 3: give two or three numbers"},
             {{"--echo", "3,-10,0,1"}, "--echo 3,-10,0,1"},
             {{"--echo", "a,b"}, "--echo a: give numbers"},
             {{"--dropout", "5"}, "--dropout 5: give two numbers"},
             {{"--dc", "1"}, "--dc 1: give two numbers"},
             {{"--tone", "1"}, "--tone 1: give two or three numbers"},
             {{"--pulses", "1000,10"}, "--pulses 1000,10: give three numbers"},
             {{"--steps", "1,2,3"}, "--steps 1,2,3: give two numbers"},

             {{"--esn0", "-1e9"}, "--esn0 -1e9: give a number from -100 on"},
             {{"--cfo", "1e30"}, "--cfo 1e30: give HZ from -1000000 to 1000000 (half the sample rate)"},
             {{"--drift", "1e30"}, "--drift 1e30: give HZ/S from -1e+09 to 1e+09"},
             {{"--phase", "1e30"}, "--phase 1e30: give a number from -10 to 10"},
             {{"--phase-noise", "-1"}, "--phase-noise -1: give a number from 0 to 360"},
             {{"--ppm", "2e5"}, "--ppm 2e5: give a number from -100000 to 100000"},
             {{"--delay", "-1"}, "--delay -1: give SYMBOLS from 0 to 50000000"},
             {{"--symbol-rate", "3M"}, "--symbol-rate 3M: give one with samples per symbol from 1 to 20000"},
             {{"--rate-ratio", "0.5"}, "--rate-ratio 0.5: give a number from 1 to 10000"},
             {{"--dc", "1e30,0"}, "--dc 1e30,0: give I from -100000"},
             {{"--dc", "0,1e6"}, "--dc 0,1e6: give Q from"},
             {{"--iq-gain", "1e9"}, "--iq-gain 1e9: give a number from -100 to 100"},
             {{"--iq-angle", "90"}, "--iq-angle 90: give a number from -89 to 89"},
             {{"--lead", "1000000000"}, "--lead 1000000000: give a whole number from 0 to 100000000"},
             {{"--tail", "-1"}, "--tail -1: give a whole number"},
             {{"--echo=-3,-10"}, "--echo -3,-10: give SYMBOLS from 0 to 50000000 (1e8 samples at the most)"},
             {{"--echo", "3,-10", "--echo", "3,300"}, "--echo 3,300: give DB from -100 to 100"},
             {{"--echo", "3,-10,1e9"}, "--echo 3,-10,1e9: give DEGREES from -572.957795 to 572.957795"},
             {{"--dropout=-1,5"}, "--dropout -1,5: give BEGIN from 0"},
             {{"--dropout", "5,0"}, "--dropout 5,0: give SYMBOLS from 0.5"},
             {{"--pulses", "0,10,10"}, "--pulses 0,10,10: give EVERY from 0.5"},
             {{"--pulses", "100,200,9"}, "--pulses 100,200,9: give SYMBOLS from 0 to 100"},
             {{"--pulses", "100,20,900"}, "--pulses 100,20,900: give DB from -100 to 100"},
             {{"--tone", "1e12,3"}, "--tone 1e12,3: give HZ from -1000000 to 1000000"},
             {{"--tone", "1e3,3", "--tone", "1e3,300"}, "--tone 1e3,300: give DB"},
             {{"--tone", "1e3,3,1e30"}, "--tone 1e3,3,1e30: give HZ/S from -1e+09 to 1e+09"},
             {{"--steps", "0,6"}, "--steps 0,6: give EVERY from 0.5"},
             {{"--steps", "100,1e9"}, "--steps 100,1e9: give DB"},
             {{"--fading", "0,6"}, "--fading 0,6: give PERIOD from 0.5"},
             {{"--fading", "100,nan"}, "--fading nan: give numbers"},
             {{"--fading", "100,200"}, "--fading 100,200: give DB"},
             {{"--phase-mask", "1e3:-50,100:-25"}, "--phase-mask 1e3:-50,100:-25: give HZ from 1000"},
             {{"--clock-drift", "1e9"}, "--clock-drift 1e9: give PPM/S from -1000000"},
             {{"--phase-mask", "1e3"}, "--phase-mask 1e3: give HZ:DBC"},
             {{"--gain-ripple", "0,6"}, "--gain-ripple 0,6: give PERIOD from 0.5"},
             {{"--gain-ripple", "100,200"}, "--gain-ripple 100,200: give DB"},
             {{"--warm-up", "1e9,1"}, "--warm-up 1e9,1: give HZ from -1000000"},
             {{"--warm-up", "1e3,0"}, "--warm-up 1e3,0: give SECONDS from"},
             {{"--sweep", "1e9,1,1"}, "--sweep 1e9,1,1: give HZ from -1000000"},
             {{"--sweep", "1e3,0,1"}, "--sweep 1e3,0,1: give SYMBOLS from 0.5"},
             {{"--sweep", "1e3,1,1e30"}, "--sweep 1e3,1,1e30: give MIDDLE from"},
             {{"--lose=-1,3"}, "--lose -1,3: give whole numbers of samples"},
             {{"--lose", "5.5,3"}, "--lose 5.5,3: give whole numbers of samples"},
             {{"--lose", "5,1e30"},
              "--lose 5,1e30: give whole numbers of samples from 0 to 9007199254740991"},
             {{"--lose", "5,0"}, "--lose 5,0: give COUNT from 1 on"},

             {{"--random-pulses"}, "--random-pulses needs --pulses"},
             {{"--dropout", "1e9,5"}, "--dropout 1e9,5: that begins at symbol 1e+09, and the recording ends"},
             {{"--pulses", "1e9,5,10"}, "--pulses 1e9,5,10: that begins at symbol 499999998"},
             {{"--steps", "1e9,6"}, "--steps 1e9,6: that begins at symbol 1e+09"},
             {{"--lose", "5,1", "--lose", "1e9,5"}, "--lose 1e9,5: that begins at sample 1e+09"},
             {{"--lose", "50,99999999", "--lose", "0,50"}, "--lose: none of"}}) {
        CAPTURE(words);
        std::vector<std::string> arguments{"dvbs2", "channel", clean, "-o", out};
        arguments.insert(arguments.end(), options.begin(), options.end());
        const Ended ended = run_program(arguments);
        CHECK(ended.status == 2);
        CHECK_MESSAGE(says(ended.err, words), ended.err);
        CHECK_FALSE(std::filesystem::exists(out));
    }
}

}  // namespace tidemill::cli
