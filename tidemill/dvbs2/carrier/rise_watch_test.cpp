#include "tidemill/dvbs2/carrier/rise_watch.hpp"

#include <random>

#include <doctest/doctest.h>

namespace tidemill::dvbs2 {

TEST_CASE("rise watch: noise of 90 symbols hardly ever rises by itself, and by four fifths in two or three") {
    std::mt19937 random(3);
    std::gamma_distribution<double> power(90, 1.0 / 90);
    RiseWatch watch;
    int by_itself = 0;
    for (int header = 0; header < 100000; ++header) by_itself += watch.has_risen(power(random)) ? 1 : 0;
    CHECK(by_itself <= 3);
    for (int header = 0; header < 20; ++header) watch.has_risen(power(random));
    int headers = 1;
    while (!watch.has_risen(1.8 * power(random))) ++headers;
    CHECK(headers <= 3);
    CHECK(!watch.has_risen(9));  // begun anew
}

}  // namespace tidemill::dvbs2
