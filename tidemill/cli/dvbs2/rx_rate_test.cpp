// Receptions whose symbol rate is not the given one, or does not stay.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tidemill/testing/program.hpp"
#include "tidemill/testing/small_recording.hpp"

namespace tidemill::cli {
namespace {

using namespace internal;
using Json = nlohmann::json;

std::vector<std::string> told_to_have(double symbol_rate_hz) {
    return {"--symbol-rate", fmt::format("{:.0f}", symbol_rate_hz)};
}

std::string warnings_in(const Ended& ended) {
    return Json::parse(ended.out)["warnings"].dump();
}

}  // namespace

TEST_CASE("rx --symbol-rate: one that is told wrong by up to half a percent is put right, with a warning") {
    const auto received = receive_in_order(small_recording().meta);
    const Json expected = Json::parse(received.out);
    for (const double wrong : {-0.0045, -0.002, -0.0005, 0.0005, 0.002, 0.0045}) {
        CAPTURE(wrong);
        const Ended ended = receive_in_order(small_recording().meta, told_to_have(1e6 * (1 + wrong)));
        REQUIRE_MESSAGE(ended.status == 0, ended.err);
        CHECK(says(warnings_in(ended), "which are received"));
        const Json json = Json::parse(ended.out);
        CHECK(json["symbol_rate_hz"].get<double>() == doctest::Approx(1e6).epsilon(20e-6));
        CHECK(json["frames"] == expected["frames"]);
        CHECK(json["losses"]["frames_bad"] == 0);
    }
}

TEST_CASE(
    "rx --symbol-rate: one that is told wrong is put right where a symbol is a little short of two samples") {
    for (const double ppm : {50.0, 200.0, 500.0, 1500.0, 3000.0, 4500.0}) {
        CAPTURE(ppm);
        const ScratchFolder folder;
        const std::string fast = folder / "fast.sigmf-meta";
        const Ended made = run_program({"dvbs2", "channel", small_recording().meta, "-o", fast, "--esn0",
                                        "15", fmt::format("--ppm={}", -ppm)});
        REQUIRE_MESSAGE(made.status == 0, made.err);
        const Ended ended = receive_in_order(fast, told_to_have(ppm > 450 ? 1e6 : 999.5e3));
        REQUIRE_MESSAGE(ended.status == 0, ended.err);
        CHECK(says(warnings_in(ended), "which are received"));
        const Json json = Json::parse(ended.out);
        CHECK(json["symbol_rate_hz"].get<double>() == doctest::Approx(1e6 * (1 + ppm * 1e-6)).epsilon(50e-6));
        CHECK(json["losses"]["frames_bad"] == 0);
    }
}

TEST_CASE("rx --symbol-rate: one that is right, as far as a clock may be off, is taken as it is told") {
    for (const double off : {-100e-6, 0.0, 100e-6}) {
        CAPTURE(off);
        const Ended ended = receive_in_order(small_recording().meta, told_to_have(1e6 * (1 + off)));
        REQUIRE_MESSAGE(ended.status == 0, ended.err);
        CHECK_FALSE(says(warnings_in(ended), "which are received"));
        CHECK(Json::parse(ended.out)["symbol_rate_hz"].get<double>() == std::round(1e6 * (1 + off)));
    }
}

TEST_CASE("rx --symbol-rate: one that is right is taken as it is told where the signal begins late, too") {
    const ScratchFolder folder;
    const std::string late = folder / "late.sigmf-meta";
    REQUIRE(run_program(
                {"dvbs2", "channel", small_recording().meta, "-o", late, "--esn0", "30", "--lead", "400000"})
                .status == 0);
    const Ended ended = receive_in_order(late, told_to_have(1e6));
    REQUIRE_MESSAGE(ended.status == 0, ended.err);
    CHECK_FALSE(says(warnings_in(ended), "which are received"));
    CHECK(Json::parse(ended.out)["symbol_rate_hz"] == 1e6);
}

TEST_CASE("rx: a symbol rate that changes is told, with the place from which on there was no clock") {
    const ScratchFolder folder;
    const std::string faster = folder / "faster.sigmf-meta";
    REQUIRE(run_program({"dvbs2", "channel", small_recording().meta, "-o", faster, "--rate-ratio", "1.02",
                         "--format", "ci8"})
                .status == 0);
    const std::string both = folder.put(
        "both.ci8", small_recording().bytes() + ScratchFolder::content_of(folder / "faster.sigmf-data"));
    const Ended ended = receive_in_order(both, {"--sample-rate", "2e6"});
    REQUIRE_MESSAGE(ended.status == 0, ended.err);
    const Json report = Json::parse(ended.out);
    const double change_s = static_cast<double>(small_recording().samples) / 2e6;
    CHECK(report["clockless_from_s"].get<double>() == doctest::Approx(change_s).epsilon(0.1));
    CHECK(report["clockless_s"].get<double>() == doctest::Approx(1.02 * change_s).epsilon(0.15));
    const Ended told = run_program({"dvbs2", "rx", both, "--sample-rate", "2e6", "--executor", "sequence",
                                    "--stats", "-o", "/dev/null"});
    CHECK(says(told.out + told.err, "a signal of another symbol rate"));
}

}  // namespace tidemill::cli
