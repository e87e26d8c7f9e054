#include "tidemill/dvbs2/channel/linear_equaliser.hpp"

#include <cmath>
#include <complex>

#include "tidemill/dsp/iq.hpp"
#include "tidemill/dsp/pulse.hpp"

namespace tidemill::dvbs2 {

namespace {

// Power gain of the channel at a frequency, in cycles per symbol.
double power_gain(std::span<const Echo> echoes, double frequency) {
    std::complex<double> sum = 1;
    for (const Echo& echo : echoes) {
        const double turn = echo.phase_rad - dsp::kTwoPi * frequency * echo.delay_symbols;
        sum += std::polar(std::pow(10.0, echo.gain_db / 20), turn);
    }
    return std::norm(sum);
}

}  // namespace

// The mean square error is the integral of 1 / (1 + Es/N0 S(f)) over frequencies from -1/2 to 1/2, where S
// adds up what a matched filter collects of the bands that symbols fold together.
double linear_equaliser_esn0_db(std::span<const Echo> echoes, double rolloff, double esn0_db) {
    constexpr int kSteps = 20000;
    const double esn0 = std::pow(10.0, esn0_db / 10);
    double error = 0;
    for (int i = 0; i < kSteps; ++i) {
        const double frequency = (i + 0.5) / kSteps - 0.5;
        double collected = 0;
        for (const int band : {-1, 0, 1}) {
            collected +=
                dsp::raised_cosine_spectrum(frequency + band, rolloff) * power_gain(echoes, frequency + band);
        }
        error += 1 / (1 + esn0 * collected) / kSteps;
    }
    return 10 * std::log10(1 / error - 1);
}

}  // namespace tidemill::dvbs2
