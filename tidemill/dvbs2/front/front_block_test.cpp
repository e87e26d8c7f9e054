#include "tidemill/dvbs2/front/front_block.hpp"

#include <limits>

#include <doctest/doctest.h>

#include "tidemill/dvbs2/dvbs2_error.hpp"

namespace tidemill::dvbs2 {

TEST_CASE("front: a configuration that cannot work is refused with the reason") {
    CHECK_THROWS_WITH_AS(FrontGeometry({1.9, 1.0, 0.2}), doctest::Contains("2 to 16 times"), Dvbs2Error);
    CHECK_THROWS_AS(FrontGeometry({17.0, 1.0, 0.2}), Dvbs2Error);
    CHECK_THROWS_AS(FrontGeometry({2.0, 0.0, 0.2}), Dvbs2Error);
    CHECK_THROWS_AS(FrontGeometry({std::numeric_limits<double>::quiet_NaN(), 1.0, 0.2}), Dvbs2Error);
    CHECK_THROWS_WITH_AS(FrontGeometry({2.0, 1.0, 0.9}), doctest::Contains("roll-off"), Dvbs2Error);
    CHECK_THROWS_WITH_AS(FrontGeometry({2.0, 1.0, 0.2, 5000}), doctest::Contains("multiple of 2048"),
                         Dvbs2Error);
    CHECK_THROWS_AS(FrontGeometry({16.0, 1.0, 0.2, 4096}), Dvbs2Error);
}

}  // namespace tidemill::dvbs2
