#include "tidemill/dvbs2/search/internal/qpsk_carrier.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <optional>

#include "tidemill/dsp/fft.hpp"

namespace tidemill::dvbs2::internal {

namespace {

using dsp::Iq;

constexpr std::size_t kSpectrumSymbols = 8192;
constexpr std::size_t kPhaseSymbols = 128;  // over which a phase is measured
constexpr double kStandsOut = 20;           // times the mean of the spectrum, which noise reaches in 10^-5

// The fourth power is free of the four phases; the amplitude counts but once.
Iq fourth_power(Iq symbol) {
    const float size = std::abs(symbol);
    if (size == 0) return {};
    const Iq turned = symbol / size;
    return size * turned * turned * turned * turned;
}

// Cycles of the carrier a symbol, from the line of the fourth power's spectrum.
std::optional<double> frequency_of(std::span<const Iq> symbols) {
    std::vector<Iq> spectrum(kSpectrumSymbols);
    std::ranges::transform(symbols.first(kSpectrumSymbols), spectrum.begin(), fourth_power);
    dsp::fft(spectrum);
    const auto power = [&](std::size_t bin) {
        return static_cast<double>(std::norm(spectrum[bin % kSpectrumSymbols]));
    };
    std::size_t best = 0;
    double sum = 0;
    for (std::size_t bin = 0; bin < kSpectrumSymbols; ++bin) {
        sum += power(bin);
        if (power(bin) > power(best)) best = bin;
    }
    if (power(best) * kSpectrumSymbols < kStandsOut * sum) return std::nullopt;
    const double before = std::sqrt(power(best + kSpectrumSymbols - 1)), after = std::sqrt(power(best + 1));
    const double middle = std::sqrt(power(best));
    const double between = after > before ? after / (after + middle) : -before / (before + middle);
    double cycles = (static_cast<double>(best) + between) / kSpectrumSymbols;
    if (cycles > 0.5) cycles -= 1;
    return cycles / 4;
}

void turn(std::span<Iq> symbols, double cycles_per_symbol) {
    for (std::size_t n = 0; n < symbols.size(); ++n) {
        const double cycles = cycles_per_symbol * static_cast<double>(n);
        symbols[n] *=
            std::polar(1.0F, static_cast<float>(-2 * std::numbers::pi * (cycles - std::floor(cycles))));
    }
}

// Phase of a piece of symbols, in quarters of a turn.
double quarters_of(std::span<const Iq> symbols) {
    Iq sum{};
    for (const Iq symbol : symbols) sum += fourth_power(symbol);
    return static_cast<double>(std::arg(-sum)) / (2 * std::numbers::pi);  // the diagonals give -1
}

// Turns each piece back by its phase, which changes by less than an eighth of a turn between two of them.
void take_phase(std::span<Iq> symbols) {
    double last = quarters_of(symbols.first(kPhaseSymbols));
    for (std::size_t at = 0; at + kPhaseSymbols <= symbols.size(); at += kPhaseSymbols) {
        const auto piece = symbols.subspan(at, kPhaseSymbols);
        double now = quarters_of(piece);
        now -= std::round(now - last);
        const double slope = (now - last) / kPhaseSymbols;
        for (std::size_t n = 0; n < kPhaseSymbols; ++n) {
            const double quarters = now + slope * (static_cast<double>(n) - kPhaseSymbols / 2.0);
            piece[n] *= std::polar(1.0F, static_cast<float>(-quarters * std::numbers::pi / 2));
        }
        last = now;
    }
}

}  // namespace

std::vector<Iq> without_qpsk_carrier(std::span<const Iq> symbols) {
    if (symbols.size() < kSpectrumSymbols) return {};
    const auto frequency = frequency_of(symbols);
    if (!frequency) return {};
    symbols = symbols.first(symbols.size() - symbols.size() % kPhaseSymbols);
    std::vector<Iq> still(symbols.begin(), symbols.end());
    turn(still, *frequency);
    take_phase(still);
    return still;
}

}  // namespace tidemill::dvbs2::internal
