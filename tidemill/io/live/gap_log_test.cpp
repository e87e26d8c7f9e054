#include "tidemill/io/live/gap_log.hpp"

#include <doctest/doctest.h>

namespace tidemill::io {

TEST_CASE("gap log: each gap has its place, and one that goes on stays one") {
    GapLog log;
    log.look(1000, {});
    CHECK(log.latest().empty());
    log.look(2000, {.gaps = 1, .samples = 50, .estimated = 0});
    log.look(3000, {.gaps = 1, .samples = 80, .estimated = 30});
    log.look(4000, {.gaps = 1, .samples = 80, .estimated = 30});
    log.look(5000, {.gaps = 2, .samples = 90, .estimated = 40});
    const auto gaps = log.latest();
    REQUIRE(gaps.size() == 2);
    CHECK(gaps[0].at == 2000);
    CHECK(gaps[0].samples == 80);
    CHECK(gaps[0].estimated == 30);
    CHECK(gaps[1].at == 5000);
    CHECK(gaps[1].samples == 10);
    CHECK(gaps[1].estimated == 10);
}

TEST_CASE("gap log: of more than it holds the latest stay") {
    GapLog log;
    for (std::uint64_t at = 0; at < 100; ++at) log.add({.at = at, .samples = 1});
    REQUIRE(log.latest().size() == GapLog::kMost);
    CHECK(log.latest().front().at == 100 - GapLog::kMost);
    CHECK(log.latest().back().at == 99);
}

}  // namespace tidemill::io
