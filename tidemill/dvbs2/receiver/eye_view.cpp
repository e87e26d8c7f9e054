#include "tidemill/dvbs2/receiver/eye_view.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <numbers>

#include "tidemill/dsp/fft.hpp"

namespace tidemill::dvbs2 {

namespace {

constexpr std::size_t kEyeSymbols = 256;
constexpr std::size_t kEyeBins = 1024;
using EyePhases = std::array<std::vector<Iq>, Eye::kPointsPerSymbol>;

/// The power of a symbol in which its modulation is gone, and what is left of its angle then.
struct Unmodulated {
    int power;
    double angle;
};

Unmodulated unmodulated(Modulation modulation) {
    switch (modulation) {
        case Modulation::qpsk:
            return {4, std::numbers::pi};
        case Modulation::psk8:
            return {8, 0};
        case Modulation::apsk16:
            return {12, std::numbers::pi};
        case Modulation::apsk32:
            return {16, 0};
    }
    return {4, std::numbers::pi};
}

/// The angle of the first symbol, and what each adds; in radians.
struct Turning {
    double first = 0;
    double each = 0;
};

Turning turning_of(const std::vector<Iq>& symbols, const Unmodulated& gone) {
    std::vector<Iq> powers(kEyeBins);
    for (std::size_t i = 0; i < kEyeSymbols; ++i) {
        const double angle = gone.power * std::arg(std::complex<double>(symbols[i])) - gone.angle;
        powers[i] = Iq(std::polar(std::pow(std::abs(std::complex<double>(symbols[i])), 2.0), angle));
    }
    dsp::fft(powers);
    const auto less = [](Iq a, Iq b) { return std::norm(a) < std::norm(b); };
    const auto bin = std::max_element(powers.begin(), powers.end(), less) - powers.begin();
    const double cycles =
        static_cast<double>(bin) / kEyeBins - (bin > static_cast<int>(kEyeBins) / 2 ? 1 : 0);
    return {std::arg(std::complex<double>(powers[static_cast<std::size_t>(bin)])) / gone.power,
            2 * std::numbers::pi * cycles / gone.power};
}

}  // namespace

Eye EyeView::draw(const FilteredBlock& block, Modulation modulation, std::size_t lines) const {
    if (block.info.subblocks == 0) return {};
    const std::complex<double> phasor(block.info.timing[0].phasor);
    const double sampling_instant =
        2 * (kPairsBefore + std::arg(phasor) / (2 * std::numbers::pi)) + 2 * kStrobeLead;
    EyePhases phases;
    for (std::size_t p = 0; p < phases.size(); ++p) {
        phases[p].resize(kEyeSymbols + dsp::SamplingInterpolator::kGroup);
        const double part = 2.0 * static_cast<double>(p) / static_cast<double>(phases.size());
        interpolator_.read({block.even, block.odd}, sampling_instant + part, 2, kEyeSymbols, phases[p]);
    }
    const Turning turning = turning_of(phases[0], unmodulated(modulation));
    double power = 0;
    for (std::size_t i = 0; i < kEyeSymbols; ++i) power += std::norm(phases[0][i]);
    const double scale = 1 / std::sqrt(std::max(power / kEyeSymbols, 1e-12));
    Eye eye;
    for (std::size_t line = 0; line < std::min(lines, kEyeSymbols / 2 - 1); ++line) {
        for (std::size_t point = 0; point < Eye::kPointsPerLine; ++point) {
            const std::size_t symbol = 2 * line + point / phases.size();
            const double at = static_cast<double>(2 * line) + static_cast<double>(point) / phases.size();
            const std::complex<double> value(phases[point % phases.size()][symbol]);
            const double angle = -turning.first - turning.each * at;
            eye.points.push_back(static_cast<float>((value * std::polar(scale, angle)).real()));
        }
    }
    return eye;
}

}  // namespace tidemill::dvbs2
