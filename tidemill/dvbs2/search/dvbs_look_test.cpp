#include "tidemill/dvbs2/search/dvbs_look.hpp"

#include <cmath>
#include <complex>
#include <numbers>
#include <random>

#include <doctest/doctest.h>

#include "tidemill/dsp/gaussian_noise.hpp"
#include "tidemill/dvbs2/search/testing/dvbs_signal.hpp"

namespace tidemill::dvbs2 {
namespace {

using namespace internal;
using dsp::Iq;

// From the middle of the signal on, with noise, turning.
std::vector<Iq> heard(const DvbsRate& rate, double esn0_db, double cycles_per_symbol, std::uint64_t seed) {
    std::vector<Iq> symbols = dvbs_symbols(kDvbsLookSymbols + 5000, rate, seed);
    symbols.erase(symbols.begin(), symbols.begin() + 3000 + static_cast<std::ptrdiff_t>(seed % 97));
    for (std::size_t n = 0; n < symbols.size(); ++n)
        symbols[n] *= std::polar(
            1.0F, static_cast<float>(2 * std::numbers::pi *
                                     std::fmod(cycles_per_symbol * static_cast<double>(n) + 0.1, 1.0)));
    dsp::add_gaussian_noise(seed, 0, static_cast<float>(std::pow(10, -esn0_db / 20)), symbols);
    return symbols;
}

}  // namespace

TEST_CASE("DVB-S: each code rate is told 1 dB above the Es/N0 at which its receivers work") {
    // EN 300 421, table 3: Eb/N0 of 4.5, 5.0, 5.5, 6.0 and 6.4 dB, of bits before the outer code.
    const std::array<double, 5> wanted_db{4.5 - 0.4, 5.0 + 0.9, 5.5 + 1.4, 6.0 + 1.9, 6.4 + 2.1};
    for (std::size_t k = 0; k < kDvbsRates.size(); ++k) {
        CAPTURE(kDvbsRates[k].name);
        for (const double carrier : {0.0, 0.003, -0.11})
            CHECK(look_for_dvbs(heard(kDvbsRates[k], wanted_db[k] + 1, carrier, 5 + k)) ==
                  kDvbsRates[k].name);
    }
}

TEST_CASE("DVB-S: with the spectrum inverted it is told, too") {
    std::vector<Iq> symbols = heard(kDvbsRates[2], 10, 0.01, 3);
    for (Iq& symbol : symbols) symbol = std::conj(symbol);
    CHECK(look_for_dvbs(symbols) == "3/4");
}

TEST_CASE("DVB-S: QPSK of random bits, of one byte over and over, 8PSK and noise are none") {
    std::mt19937_64 random(1);
    std::vector<Iq> noise(kDvbsLookSymbols);
    dsp::add_gaussian_noise(1, 0, 1, noise);
    CHECK_FALSE(look_for_dvbs(noise));
    for (const int phases : {4, 8}) {
        std::vector<Iq> symbols(2 * kDvbsLookSymbols);
        for (Iq& symbol : symbols)
            symbol = std::polar(
                1.0F,
                static_cast<float>(2 * std::numbers::pi *
                                   static_cast<double>(random() % static_cast<unsigned>(phases)) / phases));
        CHECK_FALSE(look_for_dvbs(symbols));
    }
    for (const DvbsRate& rate : kDvbsRates) {
        std::vector<Iq> symbols = coded_symbols(DvbsBytes(6000, 0x47), rate);
        symbols.resize(kDvbsLookSymbols, Iq(1, 1));
        CHECK_FALSE(look_for_dvbs(symbols));
    }
    CHECK_FALSE(look_for_dvbs({}));
}

}  // namespace tidemill::dvbs2
