#include "tidemill/dvbs2/channel/linear_equaliser.hpp"

#include <array>
#include <cmath>

#include <doctest/doctest.h>

namespace tidemill::dvbs2 {

TEST_CASE("linear equaliser: without echoes nothing is lost, with them as much as the textbook says") {
    CHECK(linear_equaliser_esn0_db({}, 0.2, 7) == doctest::Approx(7).epsilon(1e-4));
    // An echo a whole symbol late, whatever the band: the integral over 1 + a^2 + 2 a cos is known.
    const double esn0 = 10, a = 0.5, b = 1 + esn0 * (1 + a * a), c = 2 * esn0 * a;
    const double error = 1 / std::sqrt(b * b - c * c);
    const std::array whole{Echo{4, 20 * std::log10(a), 0.7}};
    CHECK(linear_equaliser_esn0_db(whole, 0.2, 10) ==
          doctest::Approx(10 * std::log10(1 / error - 1)).epsilon(1e-3));
    const auto lost = [](double echo_db, double esn0_db) {
        return esn0_db - linear_equaliser_esn0_db(std::array{Echo{3.3, echo_db, 1}}, 0.2, esn0_db);
    };
    CHECK(lost(-6, 4) == doctest::Approx(0.4).epsilon(0.2));
    CHECK(lost(-6, 16) == doctest::Approx(1.2).epsilon(0.1));
    CHECK(lost(-10, 8) == doctest::Approx(0.3).epsilon(0.2));
}

}  // namespace tidemill::dvbs2
