#include "tidemill/dsp/turned_products.hpp"

#include <complex>
#include <random>
#include <vector>

#include <doctest/doctest.h>

#include "tidemill/dsp/testing/every_target.hpp"

namespace tidemill::dsp {
namespace {

std::vector<Iq> some_numbers(std::size_t count, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    std::normal_distribution<float> normal;
    std::vector<Iq> x(count);
    for (Iq& v : x) v = {normal(random), normal(random)};
    return x;
}

}  // namespace

TEST_CASE("turned products: every instruction set makes the textbook's products and sums, at any length") {
    on_every_target([] {
        for (const std::size_t count : {0U, 1U, 6U, 36U, 90U}) {
            const auto x = some_numbers(count, 1), factors = some_numbers(count, 2),
                       turns = some_numbers(count, 3);
            std::vector<Iq> products(count);
            const ProductSums sums = turned_products(x, factors, turns, products);
            std::complex<double> sum{};
            double energy = 0;
            for (std::size_t n = 0; n < count; ++n) {
                const std::complex<double> want = std::complex<double>(x[n]) *
                                                  std::complex<double>(factors[n]) *
                                                  std::complex<double>(turns[n]);
                CHECK(std::abs(std::complex<double>(products[n]) - want) < 1e-5);
                sum += want;
                energy += std::norm(std::complex<double>(x[n]));
            }
            CHECK(std::abs(std::complex<double>(sums.sum) - sum) < 1e-4);
            CHECK(static_cast<double>(sums.energy) == doctest::Approx(energy).epsilon(1e-5));
        }
    });
}

}  // namespace tidemill::dsp
