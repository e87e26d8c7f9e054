#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "tidemill/base/cli_error.hpp"
#include "tidemill/dvbs2/standard/modcod_name.hpp"
#include "tidemill/options/number_list.hpp"
#include "tidemill/testing/program.hpp"

namespace tidemill::cli {
namespace {

using namespace internal;
using Json = nlohmann::json;

Ended count(std::vector<std::string> more) {
    more.insert(more.begin(), {"dvbs2", "ber", "--modcod", "QPSK 8/9", "--frame", "short"});
    return run_program(more);
}

}  // namespace

TEST_CASE("number list: numbers, ranges and mixtures, and a reason for anything else") {
    CHECK(number_list("1,2.5", "--esn0") == std::vector{1.0, 2.5});
    CHECK(number_list("-2:0.5:-1", "--esn0") == std::vector{-2.0, -1.5, -1.0});
    CHECK(number_list("0:0.1:0.3,7", "--esn0").size() == 5);
    for (const char* text :
         {"", ",", "x", "1:2", "1:0:2", "2:1:1", "1:nan:2", "inf", "0:1e-9:1", "1:2:3:4"}) {
        CAPTURE(text);
        CHECK_THROWS_AS(number_list(text, "--esn0"), WrongUsage);
    }
}

TEST_CASE("ber: a waterfall in a table, with table 13 and published points beside it") {
    const Ended ended = count({"--ebn0", "3.0,3.6,4.5", "--frames", "60", "--json"});
    REQUIRE_MESSAGE(ended.status == 0, ended.err);
    const Json rows = Json::parse(ended.out)["rows"];
    REQUIRE(rows.size() == 3);
    CHECK(rows[0]["modcod"] == "QPSK 8/9");
    CHECK(rows[0]["frames"].dump() == "60");
    CHECK(rows[0]["frames_wrong"].is_number_unsigned());
    CHECK(rows[0]["frame_error_rate"] == 1.0);
    CHECK(rows[1]["frame_error_rate"] > 0.05);
    CHECK(rows[1]["frame_error_rate"] < 0.95);
    CHECK(rows[2]["frame_error_rate"] == 0.0);
    CHECK(rows[2]["frame_error_rate_high"] == doctest::Approx(0.0487).epsilon(0.01));
    CHECK(rows[0]["esn0_db"] == doctest::Approx(3.0 + 2.447).epsilon(1e-3));
    CHECK(rows[0]["table_13_esn0_db"] == doctest::Approx(6.20));
    const Ended text = count({"--margin", "1", "--frames", "5"});
    CHECK(says(text.out, "7.20"));
    CHECK(says(text.out, "StreamPU"));
}

TEST_CASE("ber: beside echoes stands what the best linear equaliser leaves of them") {
    const Ended ended = count({"--sync", "full", "--pilots", "--echo", "3.3,-6,57", "--esn0", "9", "--frames",
                               "20", "--burst", "20", "--json"});
    REQUIRE_MESSAGE(ended.status == 0, ended.err);
    const Json row = Json::parse(ended.out)["rows"][0];
    CHECK(row["linear_equaliser_esn0_db"].get<double>() == doctest::Approx(8.3).epsilon(0.03));
    CHECK(row["frames_wrong"].get<int>() <= 2);
    CHECK(count({"--echo", "3.3"}).status != 0);
}

TEST_CASE("ber: floating-point sum-product stands beside the receiver's decoder, on the same frames") {
    const std::vector<std::string> point{"--ebn0", "3.7", "--frames", "40", "--sum-product", "--json"};
    const Ended ended = count(point);
    REQUIRE_MESSAGE(ended.status == 0, ended.err);
    const Json row = Json::parse(ended.out)["rows"][0];
    CHECK(row["sum_product_frames_wrong"].is_number_unsigned());
    CHECK(row["sum_product_frame_error_rate"] < 0.4);
    CHECK(row["capacity_esn0_db"].get<double>() < row["esn0_db"].get<double>());
    const Json alone = Json::parse(count({"--ebn0", "3.7", "--frames", "40", "--json"}).out)["rows"][0];
    CHECK(alone["frames_wrong"] == row["frames_wrong"]);
    CHECK(alone["sum_product_frames_wrong"].is_null());
    CHECK(count({"--esn0", "9", "--sync", "full", "--sum-product"}).status == 2);
}

TEST_CASE("modcod: a name is read as people write it, or as a number") {
    for (const char* text : {"QPSK 8/9", "qpsk8/9", "QPSK-8/9", "qpsk_8/9", "10"}) {
        CAPTURE(text);
        CHECK(modcod_of(text).number == 10);
    }
    for (const dvbs2::Modcod& modcod : dvbs2::all_modcods()) {
        CHECK(modcod_of(modcod_name(modcod)).number == modcod.number);
        CHECK(modcod_of(std::to_string(modcod.number)).number == modcod.number);
    }
}

TEST_CASE("ber: a count goes on from its file, and gives what one count gives") {
    const ScratchFolder folder;
    const std::vector<std::string> point{"--esn0", "6.05", "--json", "--state", folder / "state.json"};
    const auto upto = [&](const char* frames, const char* threads) {
        std::vector<std::string> arguments = point;
        arguments.insert(arguments.end(), {"--frames", frames, "--threads", threads});
        const Ended ended = count(arguments);
        REQUIRE_MESSAGE(ended.status == 0, ended.err);
        return Json::parse(ended.out)["rows"][0];
    };
    CHECK(upto("20", "2")["frames"] == 20);
    const Json resumed = upto("50", "2");
    std::filesystem::remove(folder / "state.json");
    std::filesystem::create_symlink(folder / "elsewhere.json", folder / "state.json");
    CHECK(upto("50", "1") == resumed);
    CHECK(!ScratchFolder::content_of(folder / "elsewhere.json").empty());
    std::filesystem::remove(folder / "state.json");
    const std::string saved = ScratchFolder::content_of(folder / "elsewhere.json");
    folder.put("state.json", "{\"x\": 3}");
    CHECK(count(point).status == 3);
    for (const char* wrong : {"\"frame_errors\": 51", "\"bit_errors\": 1000000000000", "\"frames\": 0",
                              "\"undetected\": 9223372036854775808"}) {
        std::string state = saved;
        const std::string key(wrong, std::string_view(wrong).find(':') + 1);
        const std::size_t at = state.find(key);
        state.replace(at, state.find_first_of(",\n", at) - at, wrong);
        folder.put("state.json", state);
        const Ended refused = count(point);
        CHECK(refused.status == 3);
        CHECK(says(refused.err, "no run comes to these counts"));
    }
}

TEST_CASE("ber: parts of a count add up to the whole, field for field") {
    const auto rows_of = [](std::vector<std::string> more, const char* first, const char* frames) {
        more.insert(more.end(), {"--json", "--errors", "1000", "--first-frame", first, "--frames", frames});
        const Ended ended = count(more);
        REQUIRE_MESSAGE(ended.status == 0, ended.err);
        return Json::parse(ended.out)["rows"][0];
    };
    const std::vector<std::string> ideal{"--esn0", "6.05"};
    const std::vector<std::string> full{"--esn0", "6.05", "--sync", "full", "--pilots", "--burst", "20"};
    for (const auto& point : {ideal, full}) {
        const Json whole = rows_of(point, "0", "60");
        const Json begin = rows_of(point, "0", "20");
        const Json end = rows_of(point, "20", "40");
        CHECK(whole["bits"].is_number_unsigned());
        CHECK(whole["frames_wrong"] > 3);
        int fields = 0;
        for (const auto& [name, value] : whole.items()) {
            if (!value.is_number_unsigned()) continue;
            CAPTURE(name);
            CHECK(begin[name].get<std::uint64_t>() + end[name].get<std::uint64_t>() == value);
            ++fields;
        }
        CHECK(fields == 7);
        CHECK(begin["bits_wrong"] != end["bits_wrong"]);
    }
}

TEST_CASE("ber: a part of a count goes on from its file, which another part may share") {
    const ScratchFolder folder;
    const auto frames_of = [&](const char* first, const char* frames) {
        const Ended ended = count({"--esn0", "6.05", "--json", "--state", folder / "state.json",
                                   "--first-frame", first, "--frames", frames});
        REQUIRE_MESSAGE(ended.status == 0, ended.err);
        return Json::parse(ended.out)["rows"][0];
    };
    const Json begin = frames_of("0", "20");
    frames_of("20", "10");
    CHECK(frames_of("0", "20") == begin);
    CHECK(frames_of("20", "15")["frames"] == 15);
}

TEST_CASE("ber: a part that cuts a burst is refused") {
    const std::vector<std::string> full{"--esn0", "9", "--sync", "full", "--burst", "20", "--first-frame"};
    const auto refused = [&](const char* first, const char* frames) {
        std::vector<std::string> words = full;
        words.insert(words.end(), {first, "--frames", frames});
        const Ended ended = count(words);
        CHECK(ended.status == 2);
        return ended.err;
    };
    CHECK(
        says(refused("30", "20"), "--first-frame 30 cuts a burst of 20 frames: give a multiple of --burst"));
    CHECK(says(refused("40", "30"), "--frames 30 cuts a burst"));
    CHECK(says(refused("-1", "20"), "--first-frame -1"));
}

TEST_CASE("ber: an instruction set may be named, and one that is not here is refused with those that are") {
    CHECK(says(count({"--esn0", "9", "--target", "AVX9"}).err,
               "--target: this machine has no instruction set"));
    CHECK(count({"--esn0", "9", "--target", "AVX9"}).status == 2);
    const std::string err = count({"--esn0", "9", "--target", "?"}).err;
    const std::size_t first = err.find("there are ") + 10;
    const std::string best = err.substr(first, err.find_first_of(",\n", first) - first);
    const Ended named = count({"--esn0", "6.05", "--frames", "20", "--json", "--target", best});
    REQUIRE_MESSAGE(named.status == 0, named.err);
    CHECK(named.out == count({"--esn0", "6.05", "--frames", "20", "--json"}).out);
}

TEST_CASE("ber: the whole receiver may be counted, and a table written as CSV") {
    const ScratchFolder folder;
    const std::string csv = folder / "table.csv";
    const Ended ended = count({"--sync", "full", "--pilots", "--margin", "1.5", "--frames", "20", "--burst",
                               "20", "--phase-noise", "3", "--csv", csv});
    REQUIRE_MESSAGE(ended.status == 0, ended.err);
    const std::string table = ScratchFolder::content_of(csv);
    CHECK(says(table, "\"MODCOD\",\"frame\",\"Es/N0 dB\""));
    CHECK(says(table, "\"QPSK 8/9\",\"short\",7.7,"));
    CHECK(says(table, ",20,0,0,0,0,0,"));
}

TEST_CASE("ber: what cannot be is refused") {
    CHECK(count({"--esn0", "1", "--ebn0", "1"}).status == 2);
    CHECK(count({"--esn0", "abc"}).status == 2);
    CHECK(run_program({"dvbs2", "ber", "--modcod", "QPSK 9/10", "--frame", "short"}).status == 2);
    for (const char* none : {"QAM 3/4", "0", "29", "8/9", "QPSK 89", "-1", "1-0"})
        CHECK(run_program({"dvbs2", "ber", "--modcod", none}).status == 2);
    const Ended half = count({"--ppm", "50"});
    CHECK(half.status == 2);
    CHECK(says(half.err, "--ppm needs --sync"));
    const ScratchFolder folder;
    const Ended lost = count({"--frames", "1000000000", "--csv", folder / "nowhere/table.csv"});
    CHECK(lost.status == 1);
    CHECK(says(lost.err, "cannot write"));
}

}  // namespace tidemill::cli
