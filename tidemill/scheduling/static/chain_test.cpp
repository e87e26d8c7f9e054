#include "tidemill/scheduling/static/chain.hpp"

#include <cmath>
#include <limits>

#include <doctest/doctest.h>
#include <fmt/format.h>

namespace tidemill {
namespace {

Chain two_tasks() {
    return {{"big", "little"}, {{"source", false, {5, 9}}, {"filter", true, {20, 41.5}}}};
}

}  // namespace

TEST_CASE("platforms are written as people say them") {
    const Platform platform = parse_platform("little=4,big=2,gpu=1");
    CHECK(platform.big == 2);
    CHECK(platform.little == 4);
    CHECK(platform.count("gpu") == 1);
    CHECK(platform.count("npu") == 0);
    CHECK(to_string(platform) == "big=2,little=4,gpu=1");
    CHECK(parse_platform(to_string(platform)) == platform);
    CHECK(parse_platform("big=4,little=8") == Platform{.big = 4, .little = 8});
}

TEST_CASE("a platform that cannot be read says which part and what to write") {
    for (const char* text : {"", "big", "big=", "big=two", "=3", "big=-1", "big=1,", "big=1,big=2",
                             "big=1;little=2", "big=99999999999"}) {
        CAPTURE(text);
        CHECK_THROWS_AS(parse_platform(text), ScheduleError);
    }
    CHECK_THROWS_WITH(parse_platform("big=1,little=x"),
                      "cores \"big=1,little=x\": 'x' is not a number of cores; write for instance "
                      "\"big=2,little=4\"");
}

TEST_CASE("kinds come in the order in which they are spared") {
    Platform platform{.big = 1, .little = 2, .others = {{"lp-e", 2}}};
    platform.set("gpu", 1);
    platform.set("lp-e", 4);
    CHECK(platform.kinds() == std::vector<CoreCount>{{"big", 1}, {"little", 2}, {"lp-e", 4}, {"gpu", 1}});
}

TEST_CASE("chains that no strategy can use are refused") {
    CHECK_NOTHROW(check(two_tasks()));
    const auto broken = [](auto change) {
        Chain chain = two_tasks();
        change(chain);
        return chain;
    };
    CHECK_THROWS_AS(check(broken([](Chain& chain) { chain.tasks.clear(); })), ScheduleError);
    CHECK_THROWS_AS(check(broken([](Chain& chain) { chain.kinds = {"big", "big"}; })), ScheduleError);
    CHECK_THROWS_AS(check(broken([](Chain& chain) { chain.tasks[1].name = "source"; })), ScheduleError);
    CHECK_THROWS_AS(check(broken([](Chain& chain) { chain.tasks[1].weight_us.pop_back(); })), ScheduleError);
    for (const double weight : {-1.0, std::nan(""), -std::numeric_limits<double>::infinity()}) {
        CAPTURE(weight);
        CHECK_THROWS_AS(check(broken([&](Chain& chain) { chain.tasks[0].weight_us[1] = weight; })),
                        ScheduleError);
    }
}

TEST_CASE("more core kinds than any machine has are refused") {
    std::string cores = "k0=1";
    for (int kind = 1; kind < 64; ++kind) cores += fmt::format(",k{}=1", kind);
    CHECK(parse_platform(cores).others.size() == 64);
    CHECK_THROWS_WITH(parse_platform(cores + ",k64=1"), "cores: more than 64 kinds; give fewer");
    Chain chain{{}, {{"a", true, std::vector<double>(65, 1)}}};
    for (int kind = 0; kind < 65; ++kind) chain.kinds.push_back(fmt::format("k{}", kind));
    CHECK_THROWS_WITH(check(chain), "chain: 65 core kinds; at most 64 are known");
}

TEST_CASE("measured weights can be rounded to nanoseconds") {
    Chain chain = two_tasks();
    chain.tasks[0].weight_us = {1.0 / 3, 123456.78951};
    CHECK(rounded(chain).tasks[0].weight_us == std::vector<double>{0.333, 123456.79});
}

}  // namespace tidemill
