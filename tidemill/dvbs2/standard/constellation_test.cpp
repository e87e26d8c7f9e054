#include "tidemill/dvbs2/standard/constellation.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include <doctest/doctest.h>

namespace tidemill::dvbs2 {
namespace {

float smallest_distance(std::span<const dsp::Iq> points) {
    float smallest = 10;
    for (std::size_t a = 0; a < points.size(); ++a) {
        for (std::size_t b = 0; b < a; ++b) {
            smallest = std::min(smallest, std::abs(points[a] - points[b]));
        }
    }
    return smallest;
}

TEST_CASE("constellation: unit mean energy, and as many different points as labels") {
    for (const Modcod& modcod : all_modcods()) {
        CAPTURE(modcod.number);
        const auto points = constellation_of(modcod);
        REQUIRE(points.size() == std::size_t{1} << bits_per_symbol(modcod.modulation));
        double energy = 0;
        for (const dsp::Iq point : points) {
            energy += std::norm(point);
        }
        CHECK(energy / static_cast<double>(points.size()) == doctest::Approx(1.0).epsilon(1e-6));
        CHECK(smallest_distance(points) > 0.2F);
    }
}

TEST_CASE("constellation: in PSK the labels of neighbours differ in one bit") {
    for (const int number : {1, 13}) {
        const auto points = constellation_of(*find_modcod(number));
        const float nearest = smallest_distance(points) * 1.001F;
        for (unsigned a = 0; a < points.size(); ++a) {
            for (unsigned b = 0; b < a; ++b) {
                if (std::abs(points[a] - points[b]) < nearest) {
                    CHECK(std::popcount(a ^ b) == 1);
                }
            }
        }
    }
}

TEST_CASE("constellation: 8PSK label 001 lies on the positive real axis") {  // EN 302 307-1, figure 10
    CHECK(std::abs(constellation_of(*find_modcod(13))[1] - dsp::Iq{1, 0}) < 1e-6F);
}

}  // namespace
}  // namespace tidemill::dvbs2
