#include "tidemill/dsp/power_spectrum.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <vector>

#include <doctest/doctest.h>

#include "tidemill/dsp/dsp_error.hpp"
#include "tidemill/dsp/gaussian_noise.hpp"

namespace tidemill::dsp {

TEST_CASE("power spectrum: white noise is flat at its power, in pieces of any size") {
    std::vector<Iq> noise(1 << 17);
    add_gaussian_noise(1, 0, 2, noise);
    PowerSpectrum whole(64), pieces(64);
    whole.add(noise);
    for (std::size_t n = 0; n < noise.size(); n += 1000)
        pieces.add(std::span(noise).subspan(n, std::min<std::size_t>(1000, noise.size() - n)));
    CHECK(whole.stretches() == pieces.stretches());
    CHECK(whole.power() == pieces.power());
    for (const float power : whole.power()) CHECK(std::abs(power - 4) < 0.5F);
}

TEST_CASE("power spectrum: a tone stands in its bin, and 90 dB down from five bins on") {
    std::vector<Iq> tone(4096);
    for (std::size_t n = 0; n < tone.size(); ++n)
        tone[n] = Iq(std::polar(1.0, 2 * std::numbers::pi * 24 * static_cast<double>(n) / 256));
    PowerSpectrum spectrum(256);
    spectrum.add(tone);
    const auto power = spectrum.power();
    for (std::size_t k = 0; k < power.size(); ++k) {
        if (std::abs(static_cast<double>(k) - (128 + 24)) >= 5) CHECK(power[k] < 1e-9F * power[128 + 24]);
    }
}

TEST_CASE("power spectrum: behind a gap it begins anew, and no stretch lies across") {
    std::vector<Iq> tone(1024);
    for (std::size_t n = 0; n < tone.size(); ++n)
        tone[n] = Iq(std::polar(1.0, 2 * std::numbers::pi * 24.3 * static_cast<double>(n) / 256));
    PowerSpectrum whole(256), parts(256);
    whole.add(std::span(tone).first(512));
    whole.add(std::span(tone).first(512));  // the tone jumps here
    parts.add(std::span(tone).first(512));
    parts.restart();
    parts.add(std::span(tone).first(512));
    CHECK(whole.stretches() == 7);
    CHECK(parts.stretches() == 6);
    CHECK(whole.power()[20] > 1e3F * parts.power()[20]);
}

TEST_CASE("power spectrum: fewer samples than a stretch give none, an odd length is refused") {
    PowerSpectrum spectrum(256);
    spectrum.add(std::vector<Iq>(255));
    CHECK(spectrum.power().empty());
    CHECK_THROWS_AS(PowerSpectrum(100), DspError);
}

}  // namespace tidemill::dsp
