#include "tidemill/dvbs2/carrier/internal/power_sum.hpp"

#include <cmath>
#include <vector>

#include <doctest/doctest.h>
#include <hwy/highway.h>
#include <hwy/targets.h>

#include "tidemill/dvbs2/standard/constellation.hpp"

namespace tidemill::dvbs2::internal {
namespace {

std::complex<double> reference(std::span<const dsp::Iq> symbols, int order) {
    std::complex<double> sum{};
    for (const dsp::Iq symbol : symbols) {
        sum += std::polar<double>(std::norm(symbol), order * std::arg(std::complex<double>(symbol)));
    }
    return order % 8 == 0 ? sum : -sum;
}

}  // namespace

TEST_CASE("power_sum: every target agrees with the textbook, for odd lengths and places") {
    std::vector<dsp::Iq> symbols(1600);
    for (std::size_t i = 0; i < symbols.size(); ++i) {
        const auto n = static_cast<float>(i);
        symbols[i] = std::polar(i % 7 == 0 ? 0.0F : 1 + 0.5F * std::sin(n), 0.37F * n);
    }
    for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
        hwy::SetSupportedTargetsForTest(target);
        for (const int order : {4, 8, 12, 16}) {
            for (const std::size_t count : {0U, 1U, 15U, 17U, 96U, 1476U}) {
                for (const std::size_t shift : {0U, 1U, 3U}) {
                    const auto some = std::span(symbols).subspan(shift, count);
                    const std::complex<double> sum(power_sum(some, order));
                    CAPTURE(hwy::TargetName(target));
                    CAPTURE(order);
                    CAPTURE(count);
                    CHECK(std::abs(sum - reference(some, order)) < 1e-5 * static_cast<double>(count + 1));
                }
            }
        }
    }
    hwy::SetSupportedTargetsForTest(0);
}

TEST_CASE("power_sum: the points of every modulation add up on the positive real axis") {
    for (const int number : {4, 12, 18, 24}) {
        const Modcod& modcod = *find_modcod(number);
        const auto points = constellation_of(modcod);
        const auto sum = power_sum(points, 4 * (bits_per_symbol(modcod.modulation) - 1));
        CAPTURE(number);
        CHECK(sum.real() > 0.5F * static_cast<float>(points.size()));
        CHECK(std::abs(sum.imag()) < 1e-4F);
    }
}

}  // namespace tidemill::dvbs2::internal
