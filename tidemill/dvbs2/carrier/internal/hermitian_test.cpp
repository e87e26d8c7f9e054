#include "tidemill/dvbs2/carrier/internal/hermitian.hpp"

#include <random>
#include <vector>

#include <doctest/doctest.h>

namespace tidemill::dvbs2::internal {

TEST_CASE("hermitian: what is solved multiplies back, and a matrix that is not positive is refused") {
    using Complex = std::complex<double>;
    constexpr std::size_t n = 7;
    std::mt19937_64 random(4);
    std::normal_distribution<double> normal;
    std::vector<Complex> root(n * n), a(n * n), b(n);
    for (Complex& each : root) each = {normal(random), normal(random)};
    for (Complex& each : b) each = {normal(random), normal(random)};
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < n; ++j)
            for (std::size_t k = 0; k < n; ++k) a[i * n + j] += root[i * n + k] * std::conj(root[j * n + k]);
    std::vector<Complex> factored = a, x = b;
    REQUIRE(solve_hermitian(factored, x));
    for (std::size_t i = 0; i < n; ++i) {
        Complex back{};
        for (std::size_t j = 0; j < n; ++j) back += a[i * n + j] * x[j];
        CHECK(std::abs(back - b[i]) < 1e-9);
    }
    a[0] = -1;
    CHECK_FALSE(solve_hermitian(a, b));
}

}  // namespace tidemill::dvbs2::internal
