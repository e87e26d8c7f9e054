#include "tidemill/dvbs2/tuner/tuning.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "tidemill/dvbs2/dvbs2_error.hpp"
#include "tidemill/io/files/hertz_text.hpp"

namespace tidemill::dvbs2 {

namespace {

// Between the band's edge and its image there must be room for a filter.
constexpr double kLeastRoom = 1.05;

// The part of a roll-off's edge beyond this share of it holds next to nothing.
constexpr double kEdgeShare = 0.85;
// A filter between the band and its neighbour takes this much of a symbol rate at the least.
constexpr double kLeastTransition = 0.05;
// A neighbour farther away may fold to here.
constexpr double kFarthestStop = 0.75;

}  // namespace

double tuned_rate_hz(double sample_rate_hz, double symbol_rate_hz) {
    double rate_hz = sample_rate_hz;
    while (rate_hz >= 4 * symbol_rate_hz) rate_hz /= 2;
    return std::max(rate_hz, 2 * symbol_rate_hz);
}

double tuned_rate_hz(double sample_rate_hz, const Tuning& tuning) {
    return tuning.rate_hz > 0 ? tuning.rate_hz : tuned_rate_hz(sample_rate_hz, tuning.symbol_rate_hz);
}

dsp::TunerConfig tuner_config_of(double sample_rate_hz, const Tuning& tuning) {
    const double rate = tuning.symbol_rate_hz;
    dsp::TunerConfig config{.sample_rate_hz = sample_rate_hz,
                            .output_rate_hz = tuned_rate_hz(sample_rate_hz, tuning),
                            .offset_hz = tuning.offset_hz,
                            .pass_hz = rate * (1 + tuning.rolloff) / 2};
    if (tuning.neighbour_hz == 0) return config;
    const double least = rate * (1 + kEdgeShare * tuning.rolloff) / 2;
    config.stop_hz = std::clamp(tuning.neighbour_hz, least + kLeastTransition * rate, kFarthestStop * rate);
    config.pass_hz = std::clamp(config.stop_hz - kLeastTransition * rate, least, config.pass_hz);
    return config;
}

double least_samples_per_symbol(double rolloff) {
    return kLeastRoom * (1 + rolloff);
}

void check_tuning(double sample_rate_hz, const Tuning& tuning) {
    const double ratio = sample_rate_hz / tuning.symbol_rate_hz;
    const double least = least_samples_per_symbol(tuning.rolloff);
    if (!(ratio >= least)) {
        throw Dvbs2Error(
            fmt::format("{} samples/s are {:.4g} times the symbol rate {}, and a carrier of roll-off {:.2f} "
                        "needs {:.2f} times: record at {} samples/s or more",
                        io::hertz_text(sample_rate_hz), ratio, io::hertz_text(tuning.symbol_rate_hz),
                        tuning.rolloff, least, io::hertz_text(least * tuning.symbol_rate_hz)));
    }
    if (ratio > kMostSamplesPerSymbol) {
        throw Dvbs2Error(
            fmt::format("{} samples/s are {:.6g} times the symbol rate {}; at most {:.0f} times can be: "
                        "correct the rates",
                        io::hertz_text(sample_rate_hz), ratio, io::hertz_text(tuning.symbol_rate_hz),
                        kMostSamplesPerSymbol));
    }
    const double reach = std::abs(tuning.offset_hz) + tuning.symbol_rate_hz / 2;
    if (reach > sample_rate_hz / 2) {
        throw Dvbs2Error(fmt::format(
            "a carrier of {} symbols/s at {} Hz reaches beyond the {} Hz to either side that were recorded: "
            "correct the offset",
            io::hertz_text(tuning.symbol_rate_hz), io::signed_hertz_text(tuning.offset_hz),
            io::hertz_text(sample_rate_hz / 2)));
    }
}

io::SourceControl offset_control(double sample_rate_hz, const Tuning& tuning) {
    check_tuning(sample_rate_hz, tuning);
    const double edge_hz = (sample_rate_hz - tuning.symbol_rate_hz) / 2;
    const double least_hz = std::max(-edge_hz, tuning.offset_hz - tuning.symbol_rate_hz);
    const double most_hz = std::min(edge_hz, tuning.offset_hz + tuning.symbol_rate_hz);
    return {"offset_hz", tuning.offset_hz, least_hz, most_hz};
}

}  // namespace tidemill::dvbs2
