#include <sstream>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "tidemill/cli/detail_program.hpp"

namespace tidemill::cli {
namespace {

using namespace detail;
using io::detail::ScratchFolder;
using Json = nlohmann::json;

const std::string kProfile = TIDEMILL_DATA "/profiles/dvbs2-rx-opi5.json";
constexpr const char* kWatts = "big=4.0/0.5,little=1.0/0.1";

Json json_of(const Ended& ended) {
    INFO(ended.err);
    CHECK(ended.status == 0);
    return Json::parse(ended.out);
}

}  // namespace

TEST_CASE("schedule: period, cores, stages and power as JSON") {
    const Json best = json_of(run_program({"schedule", kProfile, "--watts", kWatts, "--json"}));
    CHECK(best["period"].get<double>() == doctest::Approx(3520.53));
    CHECK(best["cores"] == Json{{"big", 4}, {"little", 4}});
    CHECK(best["power"] == 20.0);
    CHECK(best["stages"][3]["kind"] == "big");
    CHECK(best["stages"][3]["cores"] == 2);
    CHECK(best["stages"][3]["tasks"].size() == 2);
    CHECK(best["stages"][3]["weight"] == best["period"]);
}

TEST_CASE("schedule: a slower rate needs less power, and one out of reach gets the best there is") {
    const Json slow = json_of(run_program(
        {"schedule", kProfile, "--watts", kWatts, "--objective", "power", "--rate", "750", "--json"}));
    CHECK(slow["power"] == 13.0);
    const Ended unreachable = run_program({"schedule", kProfile, "--rate", "1e9", "--json"});
    CHECK(json_of(unreachable)["period"].get<double>() == doctest::Approx(3520.53));
    CHECK(says(unreachable.err, "no schedule reaches a period of"));
}

TEST_CASE("schedule --batch: a result for each line, and errors that say which line they are for") {
    const ScratchFolder folder;
    const std::string good =
        R"({"tasks": [{"name": "a", "replicable": true, "weight": {"big": 6}}], "cores": {"big": 2}})";
    const std::string unknown_kind =
        R"({"tasks": [{"name": "a", "replicable": true, "weight": {"big": 6}}], "cores": {"gpu": 2}})";
    const std::string file =
        folder.put("chains.jsonl", good + "\nnonsense\n" + unknown_kind + "\n" + good + "\n");
    const Ended ended = run_program({"schedule", "--batch", file, "--json"});
    CHECK(ended.status == 3);
    std::istringstream lines(ended.out);
    std::vector<Json> results;
    for (std::string line; std::getline(lines, line);) results.push_back(Json::parse(line));
    REQUIRE(results.size() == 4);
    CHECK(results[0]["period"] == 3.0);
    CHECK(results[3]["period"] == 3.0);
    for (const std::size_t wrong : {1, 2}) {
        CHECK(results[wrong]["line"] == wrong + 1);
        CHECK(says(results[wrong]["error"].get<std::string>(), file + ":" + std::to_string(wrong + 1)));
    }
}

TEST_CASE("front: each point is slower and draws less than the one before") {
    const Json front = json_of(run_program({"front", kProfile, "--watts", kWatts, "--json"}))["front"];
    REQUIRE(front.size() > 5);
    CHECK(front.front()["period"].get<double>() == doctest::Approx(3520.53));
    for (std::size_t i = 1; i < front.size(); ++i) {
        CHECK(front[i]["period"] > front[i - 1]["period"]);
        CHECK(front[i]["power"] < front[i - 1]["power"]);
    }
    CHECK(front.back()["power"] == doctest::Approx(3.3));  // one little core busy, all others idle
}

TEST_CASE("schedule and front: what cannot be used ends with one clear error") {
    struct Wrong {
        std::vector<std::string> arguments;
        int status;
        std::string_view message;
    };
    for (const Wrong& wrong : std::vector<Wrong>{
             {{"schedule"}, 2, "give either a chain file or --batch FILE"},
             {{"schedule", "no-such-file"}, 3, "no-such-file: cannot open for reading"},
             {{"schedule", kProfile, "--cores", "big"}, 2, "--cores: cores \"big\": 'big' is not KIND=COUNT"},
             {{"schedule", kProfile, "--cores", "big=0"}, 3, "platform: no cores"},
             {{"schedule", kProfile, "--cores", "gpu=1"}, 3, "no weights for core kind 'gpu'"},
             {{"schedule", kProfile, "--strategy", "best"}, 2, "strategy 'best' is not known"},
             {{"schedule", kProfile, "--free", "big=9"}, 3, "9 'big' cores to leave free; expected 0 to 4"},
             {{"schedule", kProfile, "--period", "5", "--rate", "5"}, 2, "either --period or --rate"},
             {{"front", kProfile}, 2, "no power is known: give --watts"},
             {{"front", kProfile, "--watts", "big=much"}, 2, "'big=much' is not KIND=BUSY"}}) {
        CAPTURE(std::string(wrong.message));
        const Ended ended = run_program(wrong.arguments);
        CHECK(ended.status == wrong.status);
        CHECK(says(ended.err, wrong.message));
        CHECK(ended.out.empty());
    }
}

}  // namespace tidemill::cli
