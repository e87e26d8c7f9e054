#include "tidemill/dvbs2/receiver/largest_drift.hpp"

#include <doctest/doctest.h>

namespace tidemill::dvbs2 {

TEST_CASE("largest drift: of frames in a row, rising or falling, and of a few none") {
    LargestDrift drift;
    for (int i = 0; i < 7; ++i) drift.take(5e-8, i == 0);
    CHECK(drift.largest() == 0);
    for (int i = 0; i < 100; ++i) drift.take(-2e-8, i == 0);
    CHECK(drift.largest() == doctest::Approx(2e-8));
    for (int i = 0; i < 100; ++i) drift.take(1e-8, false);
    CHECK(drift.largest() == doctest::Approx(2e-8));
    for (int i = 0; i < 100; ++i) drift.take(4e-8, false);
    CHECK(drift.largest() == doctest::Approx(4e-8).epsilon(0.01));
}

}  // namespace tidemill::dvbs2
