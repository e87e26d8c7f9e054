#include "tidemill/dvbs2/search/vl_snr_look.hpp"

#include <array>
#include <cmath>
#include <complex>
#include <numbers>
#include <random>
#include <vector>

#include <doctest/doctest.h>

#include "tidemill/dsp/gaussian_noise.hpp"
#include "tidemill/dsp/pulse.hpp"
#include "tidemill/dvbs2/standard/vl_snr_header.hpp"

namespace tidemill::dvbs2 {
namespace {

using dsp::Iq;

constexpr double kRolloff = 0.25;

// Frames of which only the header is as it should be; the rest is random BPSK.
std::vector<Iq> frame_symbols(const VlSnrHeader& header, std::size_t count) {
    std::mt19937 random(static_cast<unsigned>(header.index) + 1);
    const std::vector<Iq> known = vl_snr_header_symbols(header);
    const std::size_t length = header.pls_code == 129 ? 33282 : 16686;
    std::vector<Iq> symbols;
    for (std::size_t n = 0; n < count; ++n) {
        const std::size_t place = (n + length - 1000) % length;
        symbols.push_back(place < known.size() ? known[place] : Iq(random() % 2 != 0 ? 1.0F : -1.0F, 0));
    }
    return symbols;
}

struct Air {
    double esn0_db = 0;
    double late = 0;    // samples
    double cycles = 0;  // per symbol
    bool inverted = false;
};

// Two samples a symbol.
std::vector<Iq> on_air(const std::vector<Iq>& symbols, const Air& air) {
    constexpr std::ptrdiff_t kReach = 8;
    std::array<std::array<float, 2 * kReach + 1>, 2> pulse{};
    for (std::ptrdiff_t k = -kReach; k <= kReach; ++k)
        for (std::size_t phase = 0; phase < 2; ++phase)
            pulse[phase][static_cast<std::size_t>(k + kReach)] = static_cast<float>(dsp::root_raised_cosine(
                (static_cast<double>(phase) - air.late) / 2 - static_cast<double>(k), kRolloff));
    std::vector<Iq> samples(2 * symbols.size());
    for (std::size_t n = 0; n < samples.size(); ++n) {
        Iq sum{};
        for (std::ptrdiff_t k = -kReach; k <= kReach; ++k)
            if (const auto at = static_cast<std::ptrdiff_t>(n / 2) + k; at >= 0 && at < std::ssize(symbols))
                sum += pulse[n % 2][static_cast<std::size_t>(k + kReach)] *
                       symbols[static_cast<std::size_t>(at)];
        const double turns = air.cycles * static_cast<double>(n) / 2 + 0.1;
        samples[n] = sum * std::polar(1.0F, static_cast<float>(2 * std::numbers::pi * std::fmod(turns, 1.0)));
        if (air.inverted) samples[n] = std::conj(samples[n]);
    }
    dsp::add_gaussian_noise(7, 0, static_cast<float>(std::pow(10, -air.esn0_db / 20)), samples);
    return samples;
}

}  // namespace

TEST_CASE("VL-SNR: every header is told at -9.9 dB, between samples, off its frequency and mirrored") {
    for (const VlSnrHeader& header : kVlSnrHeaders) {
        CAPTURE(header.index);
        const std::vector<Iq> symbols = frame_symbols(header, 36'500);
        const double cycles = 0.00116 * (header.index - 6);
        CHECK(look_for_vl_snr(on_air(symbols, {-9.9, 0.13 * header.index, cycles, header.index % 3 == 0}),
                              kRolloff) == header.index);
    }
}

TEST_CASE("VL-SNR: noise, BPSK, QPSK, a tone and a single header are none") {
    std::mt19937 random(3);
    std::vector<Iq> noise(60'000), tone(60'000), bpsk(30'000), qpsk(30'000);
    dsp::add_gaussian_noise(1, 0, 1, noise);
    for (std::size_t n = 0; n < tone.size(); ++n)
        tone[n] = std::polar(1.0F, static_cast<float>(0.013 * static_cast<double>(n % 62832)));
    for (Iq& symbol : bpsk) symbol = random() % 2 != 0 ? 1.0F : -1.0F;
    for (Iq& symbol : qpsk) symbol = Iq(random() % 2 != 0 ? 1.0F : -1.0F, random() % 2 != 0 ? 1.0F : -1.0F);
    CHECK_FALSE(look_for_vl_snr(noise, kRolloff));
    CHECK_FALSE(look_for_vl_snr(tone, kRolloff));
    CHECK_FALSE(look_for_vl_snr(on_air(bpsk, {20}), kRolloff));
    CHECK_FALSE(look_for_vl_snr(on_air(qpsk, {20}), kRolloff));
    CHECK_FALSE(look_for_vl_snr(on_air(frame_symbols(kVlSnrHeaders[0], 30'000), {0}), kRolloff));
    CHECK_FALSE(look_for_vl_snr(std::span(noise).first(10), kRolloff));
}

}  // namespace tidemill::dvbs2
