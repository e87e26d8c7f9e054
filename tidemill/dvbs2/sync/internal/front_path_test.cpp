#include "tidemill/dvbs2/sync/internal/front_path.hpp"

#include <utility>

#include <doctest/doctest.h>

namespace tidemill::dvbs2::internal {

TEST_CASE("front path: the phase goes on where the frequency turns") {
    FrontPath path;
    path.turn(1000, 0.01, false);
    path.turn(3000, 0.02, false);
    CHECK(path.at(999) == 0);
    CHECK(path.at(1000) == 0.01);
    CHECK(path.at(5000) == 0.02);
    CHECK(path.cycles(1000) == doctest::Approx(0));
    CHECK(path.cycles(3000) == doctest::Approx(20));
    CHECK(path.cycles(3100) == doctest::Approx(22));
    CHECK(path.turns(2999, 3000));
    CHECK_FALSE(path.turns(1000, 2999));
    path.forget_before(3000);
    CHECK(path.cycles(3100) == doctest::Approx(22));
}

TEST_CASE("front path: what is found anew has not moved, and what follows moves on from there") {
    FrontPath path;
    path.turn(1000, 0.01, false);
    path.turn(2000, 0.05, true);
    CHECK_FALSE(path.turns(1000, 2000));
    path.turn(3000, 0.06, false);
    CHECK(path.at(3000) == doctest::Approx(0.02));
    CHECK(path.turns(1000, 3000));
}

TEST_CASE("front path: what was taken out at a place is what the front said there") {
    FrontPath path;
    path.turn(1000, 0.01, true);
    path.turn(2000, 0.02, false);
    path.turn(3000, 0.05, true);
    path.turn(4000, 0.06, false);
    for (const auto& [place, frequency] :
         {std::pair{1000, 0.01}, std::pair{1999, 0.01}, std::pair{2500, 0.02}, std::pair{3000, 0.05},
          std::pair{5000, 0.06}})
        CHECK(path.taken_out(static_cast<std::uint64_t>(place)) == doctest::Approx(frequency));
}

}  // namespace tidemill::dvbs2::internal
