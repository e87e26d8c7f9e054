#include "tidemill/dvbs2/sync/internal/stepped_sums.hpp"

#include <array>

#include <doctest/doctest.h>

namespace tidemill::dvbs2::internal {
namespace {

struct Number {
    std::complex<double> number;
    double lag;
};

TEST_CASE("stepped sums: at each offset the sum of all numbers, each turned back by its own lag") {
    const std::array<Number, 3> numbers{{{{1, 0.5}, 90.5}, {{-0.25, 2}, 1476}, {{0, 0}, 3}}};
    const double first = -1e-4, step = 7e-6;
    SteppedSums sums(first, step);
    for (const auto& [number, lag] : numbers) sums.add(number, lag);
    for (int k = 0; k < 40; ++k) {
        std::complex<double> expected{};
        for (const auto& [number, lag] : numbers)
            expected += number * std::polar(1.0, -dsp::kTwoPi * lag * (first + k * step));
        CHECK(std::abs(sums.next() - expected) < 1e-12);
    }
}

TEST_CASE("stepped sums: of no numbers it is zero") {
    SteppedSums sums(0, 1);
    CHECK(sums.next() == 0.0);
}

}  // namespace
}  // namespace tidemill::dvbs2::internal
