#include "tidemill/dvbs2/receiver/eye_view.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <memory>
#include <numbers>

#include <doctest/doctest.h>

namespace tidemill::dvbs2 {
namespace {

// A raised cosine at t symbols from its middle.
double nyquist(double t, double rolloff) {
    const double pi = std::numbers::pi;
    const double wide = 1 - std::pow(2 * rolloff * t, 2);
    const double sinc = t == 0 ? 1 : std::sin(pi * t) / (pi * t);
    return std::abs(wide) < 1e-9 ? pi / 4 * sinc : sinc * std::cos(pi * rolloff * t) / wide;
}

std::complex<double> symbol_of(int number, int bits) {
    const int points = 1 << bits;
    const double offset = bits == 2 ? 0.5 : 0;
    const auto point = static_cast<double>((number * 2654435761U >> 7) % static_cast<unsigned>(points));
    return std::polar(1.0, 2 * std::numbers::pi * (point + offset) / points);
}

// A matched-filtered block whose sampling_instants lie `tau` symbols behind the even samples, and whose
// carrier turns.
std::unique_ptr<FilteredBlock> block_of(int bits, double tau, double cycles_per_symbol) {
    auto block = std::make_unique<FilteredBlock>();
    block->info.subblocks = 1;
    block->info.timing[0].phasor = Iq(std::polar(1.0, 2 * std::numbers::pi * tau));
    const auto value = [&](double at) {
        std::complex<double> sum;
        for (int k = static_cast<int>(at) - 24; k < static_cast<int>(at) + 24; ++k)
            sum += symbol_of(k + 1000, bits) * nyquist(at - k, 0.2);
        return Iq(sum * std::polar(1.0, 0.7 + 2 * std::numbers::pi * cycles_per_symbol * at));
    };
    for (std::size_t pair = 0; pair < 400; ++pair) {
        block->even[pair] = value(static_cast<double>(pair) - tau);
        block->odd[pair] = value(static_cast<double>(pair) + 0.5 - tau);
    }
    return block;
}

// The least distance of the lines from zero in their middle.
double opening(const Eye& eye) {
    double least = 10;
    for (std::size_t at = Eye::kPointsPerSymbol; at < eye.points.size(); at += Eye::kPointsPerLine)
        least = std::min(least, static_cast<double>(std::abs(eye.points[at])));
    return least;
}

}  // namespace

TEST_CASE("eye: that of a clean QPSK is open, wherever its sampling_instants lie and however it turns") {
    const EyeView view(0.2);
    for (const double tau : {-0.45, -0.2, 0.0, 0.3}) {
        for (const double turn : {0.0, 0.001, -0.02}) {
            CAPTURE(tau);
            CAPTURE(turn);
            const Eye eye = view.draw(*block_of(2, tau, turn), Modulation::qpsk, 60);
            CHECK(eye.points.size() == 60 * Eye::kPointsPerLine);
            CHECK(opening(eye) > 0.6);  // of 0.707
        }
    }
}

TEST_CASE("eye: 8PSK has its five levels") {
    const Eye eye = EyeView(0.2).draw(*block_of(3, 0.1, 0.003), Modulation::psk8, 60);
    for (std::size_t at = Eye::kPointsPerSymbol; at < eye.points.size(); at += Eye::kPointsPerLine) {
        const double level = std::abs(static_cast<double>(eye.points[at]));
        const double distance = std::min({std::abs(level), std::abs(level - 0.7071), std::abs(level - 1)});
        CHECK(distance < 0.08);
    }
}

TEST_CASE("eye: a block without symbols has none") {
    CHECK(EyeView(0.2).draw(*std::make_unique<FilteredBlock>(), Modulation::qpsk, 60).points.empty());
}

}  // namespace tidemill::dvbs2
