// The program and radios, where none is: what it says, and what it refuses.
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "tidemill/apps/running/radio_plan.hpp"
#include "tidemill/base/cli_error.hpp"
#include "tidemill/testing/program.hpp"

namespace tidemill::cli {
namespace {

using internal::Ended;
using internal::run_program;

bool tells(const Ended& ended, const std::string& part) {
    return ended.err.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("radio plan: settings are read as KEY=VALUE, and given back as a shell takes them") {
    const RadioOptions options{
        .frequency_hz = 741.5e6, .antenna = "LNA w", .settings = {"biastee=true", "x=a=b"}};
    const RadioPlan plan = radio_plan(options, {.sample_rate_hz = 2.4e6});
    CHECK(plan.settings.antenna == "LNA w");
    using Settings = std::vector<std::pair<std::string, std::string>>;
    CHECK(plan.settings.settings == Settings{{"biastee", "true"}, {"x", "a=b"}});
    CHECK(options_text(options) ==
          " --freq 741500000 --antenna 'LNA w' --setting 'biastee=true' --setting 'x=a=b'");
    for (const char* wrong : {"biastee", "=true", ""}) {
        CHECK_THROWS_AS(radio_plan({.frequency_hz = 1e9, .settings = {wrong}}, {.sample_rate_hz = 1e6}),
                        WrongUsage);
    }
}

TEST_CASE("radio: one that is not there is told of, with or without SoapySDR") {
    const Ended listed = run_program({"radio", "driver=no-such-radio", "--json"});
    CHECK(listed.status == kJobFailed);
    const auto json = nlohmann::json::parse(listed.out);
    CHECK(json["radios"].empty());
    CHECK_FALSE(json["nothing"].get<std::string>().empty());
    const Ended received =
        run_program({"dvbs2", "rx", "driver=no-such-radio", "--freq", "1G", "--rate", "1M", "-o", "none.ts"});
    CHECK(received.status == kUnusableInput);
    CHECK((tells(received, "no-such-radio") || tells(received, "libsoapysdr0.8")));
    const Ended sent =
        run_program({"dvbs2", "tx", "--random", "1", "-o", "driver=no-such-radio", "--freq", "1G"});
    CHECK(sent.status == kJobFailed);
    CHECK((tells(sent, "no-such-radio") || tells(sent, "libsoapysdr0.8")));
}

TEST_CASE("tx: what a radio needs, and what only a radio has, is wrong usage elsewhere") {
    const auto send = [](const std::vector<std::string>& more) {
        std::vector<std::string> words{"dvbs2", "tx", "--random", "1"};
        words.insert(words.end(), more.begin(), more.end());
        return run_program(words);
    };
    CHECK(tells(send({"-o", "driver=none"}), "--freq"));
    CHECK(tells(send({"-o", "none.cs16", "--freq", "1G"}), "is no radio"));
    CHECK(tells(send({"-o", "driver=none", "--freq", "1G", "--format", "ci8"}), "format of its own"));
    const Ended fraction = send({"-o", "none.cs16", "--rate", "2.5M", "--symbol-rate", "1M"});
    CHECK(fraction.status == kWrongUsage);
    CHECK(tells(fraction, "whole multiple"));
}

}  // namespace tidemill::cli
