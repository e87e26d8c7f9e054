#include "tidemill/io/live/gap_finder.hpp"

#include <cmath>

#include <doctest/doctest.h>
#include <rapidcheck.h>

namespace tidemill::io {

TEST_CASE("gap finder: by the times of a radio every gap is found, to the sample, at any rate") {
    CHECK(rc::check([] {
        const double rate_hz = *rc::gen::inRange(1'000, 60'000'000) + *rc::gen::inRange(0, 1000) / 1000.0;
        GapFinder finder(rate_hz);
        std::uint64_t next = *rc::gen::inRange(0, 1'000'000'000);
        for (int block = 0; block < 50; ++block) {
            const std::uint64_t gap =
                block > 0 && *rc::gen::inRange(0, 4) == 0 ? *rc::gen::inRange(1, 2'000'000) : 0;
            const std::uint64_t samples = *rc::gen::inRange(1, 100'000);
            next += gap;
            const std::int64_t time_ns = std::llround(static_cast<double>(next) * 1e9 / rate_hz);
            RC_ASSERT(finder.before({.samples = samples, .time_ns = time_ns}) == gap);
            next += samples;
        }
    }));
}

TEST_CASE("gap finder: a clock that was set back, and a first block, are no gap") {
    GapFinder finder(1e6);
    CHECK(finder.before({.samples = 100, .time_ns = 5'000'000}) == 0);
    CHECK(finder.before({.samples = 100, .time_ns = 1'000'000}) == 0);
    CHECK(finder.before({.samples = 100, .time_ns = 1'100'000}) == 0);
}

TEST_CASE(
    "gap finder: without times nothing is missing until the radio says so, and then it is an estimate") {
    GapFinder finder(1e6);
    std::int64_t now_ns = 0;
    for (int block = 0; block < 100; ++block, now_ns += 1'000'000)
        CHECK(finder.before({.samples = 1000, .now_ns = now_ns}) == 0);
    now_ns += 300'000'000;
    CHECK(finder.before({.samples = 1000, .now_ns = now_ns}) == 0);
    now_ns += 1'000'000;
    finder.overflow();
    CHECK(finder.before({.samples = 1000, .now_ns = now_ns}) == 300'000);
    CHECK_FALSE(finder.is_exact());
}

}  // namespace tidemill::io
