#include "tidemill/scheduling/static/batch_line.hpp"

#include <array>

#include <doctest/doctest.h>

using namespace tidemill;

TEST_CASE("batch line: goes through sizes on a line, and the largest one says what the host does") {
    const std::array<BatchTimes, 3> times{{{8, 120, 16}, {32, 240, 40}, {128, 720, 128}}};
    const BatchCost cost = batch_line(times);
    CHECK(cost.frame_us == doctest::Approx(5));
    CHECK(cost.batch_us == doctest::Approx(80));
    CHECK(cost.host_us == 1);
    CHECK(cost.most_frames == 128);
}

TEST_CASE("batch line: copies are told apart from the kernel") {
    const std::array<BatchTimes, 2> times{{{8, 120, 16, 40, 60}, {32, 240, 40, 88, 60}}};
    const BatchParts alone = batch_line(times).alone;
    CHECK(alone.copies.us(16) == doctest::Approx(56));
    CHECK(alone.copies.frame_us == doctest::Approx(2));
    CHECK(alone.kernel == BatchLine{60, 0});
}

TEST_CASE("batch line: of one size there is no start to tell, and of noise none below nothing") {
    const std::array<BatchTimes, 1> one{{{8, 80, 8}}};
    CHECK(batch_line(one).frame_us == 10);
    CHECK(batch_line(one).batch_us == 0);
    const std::array<BatchTimes, 2> falling{{{8, 100, 8}, {16, 90, 8}}};
    CHECK(batch_line(falling).frame_us == 0);
    CHECK(batch_line(falling).batch_us == doctest::Approx(95));
    const std::array<BatchTimes, 2> steep{{{8, 10, 8}, {16, 100, 8}}};
    CHECK(batch_line(steep).batch_us == 0);
}
