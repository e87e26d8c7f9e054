#include "tidemill/machine/node_list.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tidemill/machine/platform_error.hpp"
#include "tidemill/machine/testing/sample_machines.hpp"

using namespace tidemill;

namespace {

const std::vector<Core>& laptop_cores() {
    static const Topology loaded =
        Topology::load({.machine = TopologySource::Machine::kXmlText,
                        .description = testing::hwloc_xml(testing::ultra_9_185h())});
    return loaded.cores;
}

std::string spelled(const std::vector<PuSet>& nodes) {
    std::string text;
    for (const PuSet& node : nodes) text += fmt::format("{}{}", text.empty() ? "" : " ", to_string(node));
    return text;
}

std::string parsed(std::string_view entry) {
    return spelled(parse_node(laptop_cores(), entry));
}

}  // namespace

TEST_CASE("node list: PUs and bare numbers give one PU each, cores all of theirs") {
    CHECK(parsed("PU3") == "PU3");
    CHECK(parsed("3") == "PU3");
    CHECK(parsed("PU10-13") == "PU10 PU11 PU12 PU13");
    CHECK(parsed("0-2") == "PU0 PU1 PU2");
    CHECK(parsed("core2") == "PU4-5");
    CHECK(parsed("core5-6") == "PU10-11 PU12");
    CHECK(parsed("core15-15") == "PU21");
}

TEST_CASE("node list: entries keep their order") {
    const std::vector<std::string> entries{"core6", "PU1", "20-21"};
    CHECK(spelled(parse_node_list(laptop_cores(), entries)) == "PU12 PU1 PU20 PU21");
}

TEST_CASE("node list: what is not understood is named") {
    for (const char* bad :
         {"", "PU", "core", "PU-1", "PU1-", "PU3-1", "pu3", "Core1", "PU1,2", "PU 1", "PU1 ", "core1-2-3",
          "PU99999999999", "socket0", "-3", "+3", "PU+3", "0x1", "corePU1"}) {
        CAPTURE(bad);
        const std::string expected =
            "node-list entry \"" + std::string(bad) +
            R"(" is not understood: write "PU3", "PU0-7", "core2", "core0-5" or a number)";
        CHECK_THROWS_WITH_AS(parse_node(laptop_cores(), bad), expected.c_str(), PlatformError);
    }
}

TEST_CASE("node list: what does not exist is named with what there is") {
    CHECK_THROWS_WITH_AS(parse_node(laptop_cores(), "PU20-2147483647"),
                         "node-list entry \"PU20-2147483647\": PU22 is not usable here; there are PU0-21",
                         PlatformError);
    CHECK_THROWS_WITH_AS(parse_node(laptop_cores(), "core16"),
                         "node-list entry \"core16\": core16 is not usable here; there are core0-15",
                         PlatformError);
}

TEST_CASE("node list: a PU named twice is refused") {
    const std::vector<std::string> entries{"core0", "PU1"};
    CHECK_THROWS_WITH_AS(parse_node_list(laptop_cores(), entries),
                         "node-list entry \"PU1\" names PU1 a second time", PlatformError);
}

TEST_CASE("ranges: numbers are joined where they follow each other, in any order given") {
    CHECK(internal::number_ranges("x", {}) == "x");
    CHECK(internal::number_ranges("x", {4}) == "x4");
    CHECK(internal::number_ranges("x", {7, 0, 2, 1, 5}) == "x0-2,5,7");
    CHECK(to_string(PuSet{}) == "any");
}
