#include <algorithm>
#include <string>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "tidemill/testing/program.hpp"
#include "tidemill/testing/small_recording.hpp"

namespace tidemill::cli {
namespace {

using namespace internal;
using Json = nlohmann::json;

}  // namespace

TEST_CASE("rx: a trace has the calls of the receiver, and a picture its boxes") {
    const ScratchFolder folder;
    const std::string trace = folder / "run.json";
    const std::string picture = folder / "graph.svg";
    const Ended ended = receive_in_order(small_recording().meta, {"--trace", trace, "--graph", picture});
    REQUIRE_MESSAGE(ended.status == 0, ended.err);
    const Json run = Json::parse(ended.out)["run"];
    CHECK(run["latency"]["p99_us"] > 0);
    const Json events = Json::parse(ScratchFolder::content_of(trace))["traceEvents"];
    const auto& ldpc = *std::find_if(run["tasks"].begin(), run["tasks"].end(),
                                     [](const Json& task) { return task["name"] == "ldpc.decode"; });
    const auto calls = std::count_if(events.begin(), events.end(),
                                     [&](const Json& event) { return event["name"] == ldpc["name"]; });
    CHECK(calls == ldpc["count"].get<std::ptrdiff_t>());
    const std::string svg = ScratchFolder::content_of(picture);
    CHECK(svg.starts_with("<svg "));
    CHECK(svg.find(">ldpc.decode</text>") != std::string::npos);
}

TEST_CASE("rx: a drawing of no known kind is wrong usage") {
    const Ended ended = run_program({"dvbs2", "rx", small_recording().meta, "--graph", "graph.png"});
    CHECK(ended.status == 2);
    CHECK(ended.err.find(".svg or .dot") != std::string::npos);
}

}  // namespace tidemill::cli
