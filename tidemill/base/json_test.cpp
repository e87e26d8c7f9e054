#include "tidemill/base/json.hpp"

#include <sstream>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <rapidcheck.h>

#include "tidemill/base/json_error.hpp"
#include "tidemill/base/json_location.hpp"
#include "tidemill/base/text_file.hpp"

namespace tidemill {
namespace {

using Library = nlohmann::ordered_json;

std::string complaint(std::string_view text) {
    try {
        parse_json(text, "a.json");
        return "accepted";
    } catch (const JsonError& error) {
        return error.what();
    }
}

Json random_value(int depth) {
    switch (*rc::gen::inRange(0, depth > 0 ? 8 : 6)) {
        case 0:
            return {};
        case 1:
            return *rc::gen::arbitrary<bool>();
        case 2:
            return *rc::gen::arbitrary<std::int64_t>();
        case 3:
            return *rc::gen::arbitrary<std::uint64_t>();
        case 4:
            return *rc::gen::arbitrary<double>();
        case 5:
            return *rc::gen::string<std::string>();
        default:
            break;
    }
    Json all = *rc::gen::arbitrary<bool>() ? Json::array() : Json::object();
    for (int i = *rc::gen::inRange(0, 5); i > 0; --i) {
        if (all.get_if<Json::Array>())
            all.push_back(random_value(depth - 1));
        else
            all[fmt::format("{}{}", *rc::gen::string<std::string>(), i)] = random_value(depth - 1);
    }
    return all;
}

}  // namespace

TEST_CASE("json: braces make objects in order, push_back makes arrays") {
    Json json{{"name", "a"}, {"cores", {{"big", 4}, {"little", -1}}}, {"period", std::optional<double>()}};
    json["tasks"].push_back({{"weight", 2.5}});
    json["names"] = std::vector<std::string>{"x", "y"};
    json["name"] = "b";
    CHECK(to_text(json) == R"({"name":"b","cores":{"big":4,"little":-1},"period":null,)"
                           R"("tasks":[{"weight":2.5}],"names":["x","y"]})");
}

TEST_CASE("json: what is printed is what nlohmann-json prints, and reads back equal") {
    CHECK(rc::check("print and parse", [] {
        const Json value = random_value(3);
        const std::string text = to_text(value, 2);
        const Json again = parse_json(text, "a.json");
        RC_ASSERT(to_text(again, 2) == text);
        RC_ASSERT(Library::parse(text).dump(2) == text);
    }));
    CHECK(to_file_text(Json{{"a", 1}}) == "{\n    \"a\": 1\n}\n");
    CHECK_THROWS_AS(to_file_text("\xff"), JsonError);
    CHECK(to_text("\xff") == "\"\xef\xbf\xbd\"");
}

TEST_CASE("json: what is wrong is said with its line, its column, and in plain words") {
    CHECK(complaint("{\n  \"a\": [,]\n}").starts_with("a.json:2:9: not valid JSON (syntax error"));
    CHECK(complaint("").starts_with("a.json:1:1: not valid JSON"));
    CHECK(complaint("{\"a\": 1e999}").starts_with("a.json:1:11: not valid JSON (number overflow"));
    CHECK(complaint("\"\xff\"").starts_with("a.json:1:"));
    CHECK(complaint(R"([{"a": 1, "b": 2, "a": 3}])") ==
          "a.json: key \"a\" is given twice in one object; keep one");
    for (const char* text : {"", "{", "[1 2]", "nul", "1e999", "\"\xff\"", "\"\\u12\"", "01"})
        CHECK_MESSAGE(complaint(text).find("exception") == std::string::npos, text);
}

TEST_CASE("json: depth, values and bytes are bounded, and the bound is said") {
    const auto nested = [](std::size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); };
    CHECK(complaint(nested(JsonLimits::kDepth)) == "accepted");
    CHECK(complaint(nested(JsonLimits::kDepth + 1)) == "a.json: nested more than 64 deep");
    CHECK(complaint(std::string(1'000'000, '[')) == "a.json: nested more than 64 deep");
    std::string many = "[0";
    for (std::size_t i = 2; i < JsonLimits::kValues; ++i) many += ",0";
    CHECK(complaint(many + "]") == "accepted");
    CHECK(complaint(many + ",0]") == "a.json: more than 1000000 values");
    CHECK(complaint(std::string(JsonLimits::kBytes, ' ')).starts_with("a.json:1:"));
    CHECK(complaint(std::string(JsonLimits::kBytes + 1, ' ')) == "a.json: longer than 16 MiB");
}

TEST_CASE("json: a file that never ends is read up to the bound") {
    CHECK_THROWS_WITH_AS(read_json("/dev/zero"), "/dev/zero: longer than 16 MiB", JsonError);
    CHECK_THROWS_AS(read_json("/"), JsonError);
    CHECK_THROWS_WITH_AS(read_json("nothing.json"),
                         "nothing.json: cannot open for reading: No such file or directory", JsonError);
    std::istringstream lines("one\n\nlast");
    std::string line;
    std::vector<std::string> all;
    while (next_line(lines, line)) all.push_back(line);
    CHECK(all == std::vector<std::string>{"one", "", "last"});
    std::istringstream endless(std::string(JsonLimits::kBytes + 100, 'x') + "\nmore");
    CHECK(next_line(endless, line));
    CHECK(line.size() == JsonLimits::kBytes + 1);
    CHECK(!next_line(endless, line));
}

TEST_CASE("json: a value of the wrong type is refused with its place, shown on one line") {
    const Json json = parse_json(R"({"a": [1, {"b": "x"}], "c": -3, "d": 18446744073709551615})", "a.json");
    const JsonLocation place(json, "a.json");
    const auto second = place.at("a").elements().at(1);
    CHECK_THROWS_WITH_AS(second.at("b").number(), "a.json.a[1].b: expected a number, found \"x\"", JsonError);
    CHECK_THROWS_WITH_AS(second.at("x"), "a.json.a[1]: key \"x\" is missing", JsonError);
    CHECK_THROWS_WITH_AS(place.at("a").text(), "a.json.a: expected a text, found array", JsonError);
    CHECK_THROWS_WITH_AS(place.at("c").count(), "a.json.c: expected a whole number from 0 on, found -3",
                         JsonError);
    CHECK(place.at("c").integer(-5, 5) == -3);
    CHECK(place.at("d").count() == 18446744073709551615U);
    CHECK_THROWS_AS(place.at("d").integer(-5, 5), JsonError);
    CHECK_THROWS_AS(place.at("d").number(), JsonError);
    const Json long_text = std::string(100'000, 'x');
    CHECK(complaint("{\"a\": " + std::string(100'000, 'x')).size() < 600);
    CHECK(complaint("\"" + std::string(100'000, 'x')).size() < 600);
    try {
        JsonLocation(long_text, "a.json").flag();
    } catch (const JsonError& error) {
        CHECK(std::string_view(error.what()).size() == JsonError::kMost + 3);
    }
}

}  // namespace tidemill
