#include "tidemill/dvbs2/sync/internal/symbol_positions.hpp"

#include <doctest/doctest.h>

namespace tidemill::dvbs2::internal {

TEST_CASE("symbol_places: symbols lie one behind the other where nothing was marked, else as was marked") {
    SymbolPositions places;
    CHECK(places.at(7) == 7);
    places.mark(100, {.symbol = 0, .leaps = true, .place = 100.5, .step = 1.001});
    places.mark(200, {.symbol = 100, .leaps = false, .place = 200.6, .step = 1});
    CHECK(places.at(99) == 99);
    CHECK(places.at(100) == 100.5);
    CHECK(places.at(110) == doctest::Approx(110.51));
    CHECK(places.at(230) == doctest::Approx(230.6));
    places.forget_before(150);
    CHECK(places.at(150) == doctest::Approx(150.55));
}

TEST_CASE("symbol_places: a leap of the clock is told between the symbols around it alone") {
    SymbolPositions places;
    places.mark(100, {.symbol = 0, .leaps = false, .place = 100, .step = 1});
    places.mark(200, {.symbol = 0, .leaps = true, .place = 200.5, .step = 1});
    CHECK(places.leap(90, 250) == 200.5);
    CHECK(places.leap(199, 200) == 200.5);
    CHECK_FALSE(places.leap(200, 300));
    CHECK_FALSE(places.leap(90, 199));
}

}  // namespace tidemill::dvbs2::internal
