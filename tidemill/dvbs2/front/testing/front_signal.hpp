#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "tidemill/dsp/iq.hpp"
#include "tidemill/dsp/pulse.hpp"

namespace tidemill::dvbs2 {

/// A made-up transmission for the front's tests: random symbols, pulse-shaped, through a simple channel.
struct SignalSpec {
    std::size_t symbols = 40000;
    int points = 4;    // of the phase-shift keying
    double sps = 2.0;  // samples per symbol
    double rolloff = 0.2;
    double cfo = 0.0;    // cycles per symbol
    double drift = 0.0;  // cycles per symbol per symbol
    double ppm = 0.0;    // symbol clock against the sample clock
    double tau = 0.37;   // symbols
    double esn0_db = 200.0;
    double amplitude = 1.0;
    std::size_t lead = 0;  // noise-only samples before and after
    std::size_t tail = 0;
    std::uint64_t seed = 1;
};

/// The symbols sent and the samples received.
struct MadeSignal {
    std::vector<dsp::Iq> symbols;
    std::vector<dsp::Iq> samples;
};

/// The transmit pulse from a table: exact to about -100 dB, and fast enough for long tests.
class PulseTable {
  public:
    static constexpr int kReach = 24;  // symbols to each side

    explicit PulseTable(double rolloff) {
        for (int i = 0; i <= (2 * kReach + 2) * kSteps; ++i) {
            table_.push_back(dsp::root_raised_cosine(static_cast<double>(i) / kSteps - kReach - 1, rolloff));
        }
    }

    double operator()(double t) const {
        const double place = (t + kReach + 1) * kSteps;
        const auto i = static_cast<std::size_t>(place);
        return table_[i] + (place - static_cast<double>(i)) * (table_[i + 1] - table_[i]);
    }

  private:
    static constexpr int kSteps = 512;
    std::vector<double> table_;
};

/// The shaped signal at time t, in symbols.
inline std::complex<double> shaped(const std::vector<dsp::Iq>& symbols, const PulseTable& pulse, double t) {
    const auto first =
        std::max<std::int64_t>(0, static_cast<std::int64_t>(std::ceil(t)) - PulseTable::kReach);
    const auto last = std::min<std::int64_t>(static_cast<std::int64_t>(symbols.size()) - 1,
                                             static_cast<std::int64_t>(std::floor(t)) + PulseTable::kReach);
    std::complex<double> sum{};
    for (std::int64_t k = first; k <= last; ++k) {
        sum += std::complex<double>(symbols[static_cast<std::size_t>(k)]) * pulse(t - static_cast<double>(k));
    }
    return sum;
}

inline MadeSignal make_signal(const SignalSpec& spec) {
    std::mt19937_64 random(spec.seed);
    std::normal_distribution<double> normal;
    MadeSignal made;
    for (std::size_t k = 0; k < spec.symbols; ++k) {
        const auto point = static_cast<double>(random() % static_cast<std::uint64_t>(spec.points));
        made.symbols.push_back(dsp::Iq(std::polar(1.0, dsp::kTwoPi * (point + 0.5) / spec.points)));
    }
    const PulseTable pulse(spec.rolloff);
    // White over the sampled band: the symbol rate's share of it is what Es/N0 counts.
    const double deviation = std::sqrt(std::pow(10.0, -spec.esn0_db / 10.0) * spec.sps / 2.0);
    const auto body = static_cast<std::size_t>(static_cast<double>(spec.symbols) * spec.sps);
    for (std::size_t n = 0; n < spec.lead + body + spec.tail; ++n) {
        std::complex<double> x(deviation * normal(random), deviation * normal(random));
        if (n >= spec.lead && n < spec.lead + body) {
            const double t = static_cast<double>(n - spec.lead) / spec.sps;
            const double cycles = spec.cfo * t + spec.drift * t * t / 2.0;
            x += shaped(made.symbols, pulse, t * (1.0 + spec.ppm * 1e-6) - spec.tau) *
                 std::polar(1.0, dsp::kTwoPi * cycles);
        }
        made.samples.push_back(dsp::Iq(x * spec.amplitude));
    }
    return made;
}

}  // namespace tidemill::dvbs2
