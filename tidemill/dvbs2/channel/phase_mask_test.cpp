#include "tidemill/dvbs2/channel/phase_mask.hpp"

#include <cmath>
#include <complex>
#include <numbers>
#include <vector>

#include <doctest/doctest.h>

namespace tidemill::dvbs2 {

TEST_CASE("phase mask: phase noise has the density of its mask") {
    // -50 dB at 0.01 and -70 dB at 0.1 cycles per symbol, and none beyond.
    const std::vector<PhaseMaskPoint> mask{{0.01, -50}, {0.1, -70}};
    const PhaseMaskNoise noise(mask, 2, 5);
    const auto share_db = [&](double frequency) {
        constexpr std::size_t kWindow = 4096, kWindows = 64;  // of sines, so that neighbours do not leak
        double power = 0;
        for (std::size_t w = 0; w < kWindows; ++w) {
            std::complex<double> sum{};
            for (std::size_t n = 0; n < kWindow; ++n) {
                const double window = std::sin(std::numbers::pi * (static_cast<double>(n) + 0.5) / kWindow);
                const double turns = frequency / 2 * static_cast<double>(n);
                sum += window * window * noise.at(w * kWindow + n) *
                       std::polar(1.0, -2 * std::numbers::pi * turns);
            }
            power += std::norm(sum);
        }
        // The window of squared sines lets 3/8 of a density's length through, in samples a symbol.
        return 10 * std::log10(power / (kWindows * kWindow * 0.375) / 2);
    };
    CHECK(std::abs(share_db(0.012) - (-50 - 20 * std::log10(1.2))) < 2);
    CHECK(std::abs(share_db(0.03) - (-50 - 20 * std::log10(3))) < 2);
    CHECK(std::abs(share_db(0.09) - (-50 - 20 * std::log10(9))) < 2);
    CHECK(share_db(0.2) < -95);
}

}  // namespace tidemill::dvbs2
