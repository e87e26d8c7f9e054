#include "tidemill/dvbs2/channel/channel_values.hpp"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <limits>

#include <fmt/format.h>

#include "tidemill/dvbs2/tuner/tuning.hpp"

namespace tidemill::dvbs2 {

namespace {

using Values = std::vector<ChannelValue>;

constexpr double kAnyMore = std::numeric_limits<double>::infinity();
constexpr double kMostSilence = 1e8;       // samples: more does nothing but fill the memory
constexpr double kMostTimeSymbols = 1e12;  // in more, a double does not distinguish neighbouring samples

constexpr ChannelLimits kSilence{0, kMostSilence};
constexpr ChannelLimits kTime{0, kMostTimeSymbols};
constexpr ChannelLimits kLevelDb{-100, 100};
constexpr ChannelLimits kOffset{-1e5, 1e5};  // the amplitude of as many decibels
constexpr ChannelLimits kPhaseRad{-10, 10};
constexpr double kLeastMaskFrequency = 1e-12, kMostMaskFrequency = 1e6;
constexpr ChannelLimits kMaskDb{-300, 200};
constexpr ChannelLimits kDriftLimits{-1e-3, 1e-3};  // through the symbol rate within 1000 symbols

/// Limits in symbols that are limits in samples.
struct SampleLimits {
    explicit SampleLimits(const ChannelConfig& c)
        : length{1 / c.samples_per_symbol, kMostTimeSymbols, "a sample at the least"},
          delay{0, kMostSilence / c.samples_per_symbol, "1e8 samples at the most"},
          frequency{-c.samples_per_symbol * c.rate_ratio / 2, c.samples_per_symbol * c.rate_ratio / 2,
                    "half the sample rate"},
          ratio{1, kMostSamplesPerSymbol / c.samples_per_symbol, "more samples a symbol no receiver takes"} {}

    ChannelLimits length, delay, frequency, ratio;
};

Values values_of_signal(const ChannelConfig& c, const SampleLimits& limits) {
    return {{"samples_per_symbol", c.samples_per_symbol, {1, kMostSamplesPerSymbol}},
            {"rate_ratio", c.rate_ratio, limits.ratio},
            {"clock_offset_ppm", c.clock_offset_ppm, {-1e5, 1e5}},
            {"clock_drift_ppm_per_symbol", c.clock_drift_ppm_per_symbol, {-1, 1}},
            {"lead_samples", static_cast<double>(c.lead_samples), kSilence},
            {"tail_samples", static_cast<double>(c.tail_samples), kSilence},
            {"esn0_db", c.esn0_db, {kLevelDb.least, kAnyMore}},
            {"frequency_cycles_per_symbol", c.frequency_cycles_per_symbol, limits.frequency},
            {"drift_cycles_per_symbol2", c.drift_cycles_per_symbol2, kDriftLimits},
            {"phase_rad", c.phase_rad, kPhaseRad},
            {"phase_noise_deg", c.phase_noise_deg, {0, 360}},
            {"delay_symbols", c.delay_symbols, limits.delay},
            {"iq_offset.real", c.iq_offset.real(), kOffset},
            {"iq_offset.imag", c.iq_offset.imag(), kOffset},
            {"iq_gain_db", c.iq_gain_db, kLevelDb},
            {"iq_angle_deg", c.iq_angle_deg, {-89, 89, "I and Q lie on one line at 90"}}};
}

void append(Values& all, std::initializer_list<ChannelValue> more) {
    all.insert(all.end(), more);
}

void append_mask(const ChannelConfig& c, Values& all) {
    double before = kLeastMaskFrequency;
    for (std::size_t i = 0; i < c.phase_mask.size(); ++i) {
        const PhaseMaskPoint& point = c.phase_mask[i];
        append(all, {{"phase_mask.cycles_per_symbol",
                      point.cycles_per_symbol,
                      {before, kMostMaskFrequency, "one behind the other"},
                      i},
                     {"phase_mask.density_db", point.density_db, kMaskDb, i}});
        before = std::nextafter(point.cycles_per_symbol, kAnyMore);
    }
}

void append_paths(const ChannelConfig& c, const SampleLimits& limits, Values& all) {
    for (std::size_t i = 0; i < c.echoes.size(); ++i)
        append(all, {{"echoes.delay_symbols", c.echoes[i].delay_symbols, limits.delay, i},
                     {"echoes.gain_db", c.echoes[i].gain_db, kLevelDb, i},
                     {"echoes.phase_rad", c.echoes[i].phase_rad, kPhaseRad, i}});
    for (std::size_t i = 0; i < c.dropouts.size(); ++i)
        append(all, {{"dropouts.begin_symbols", c.dropouts[i].begin_symbols, kTime, i},
                     {"dropouts.symbols", c.dropouts[i].symbols, limits.length, i}});
}

void append_lists(const Disturbances& d, const SampleLimits& limits, Values& all) {
    for (std::size_t i = 0; i < d.tones.size(); ++i)
        append(all,
               {{"disturbances.tones.cycles_per_symbol", d.tones[i].cycles_per_symbol, limits.frequency, i},
                {"disturbances.tones.gain_db", d.tones[i].gain_db, kLevelDb, i},
                {"disturbances.tones.drift_cycles_per_symbol2", d.tones[i].drift_cycles_per_symbol2,
                 kDriftLimits, i}});
    for (std::size_t i = 0; i < d.lost.size(); ++i)
        append(all,
               {{"disturbances.lost.samples", static_cast<double>(d.lost[i].samples), {1, kAnyMore}, i}});
}

void append_singles(const Disturbances& d, const SampleLimits& limits, Values& all) {
    if (d.pulses)
        append(all, {{"disturbances.pulses.every_symbols", d.pulses->every_symbols, limits.length},
                     {"disturbances.pulses.symbols",
                      d.pulses->symbols,
                      {0, d.pulses->every_symbols, "no longer than from one to the next"}},
                     {"disturbances.pulses.gain_db", d.pulses->gain_db, kLevelDb}});
    if (d.steps)
        append(all, {{"disturbances.steps.every_symbols", d.steps->every_symbols, limits.length},
                     {"disturbances.steps.gain_db", d.steps->gain_db, kLevelDb}});
    if (d.fading)
        append(all, {{"disturbances.fading.period_symbols", d.fading->period_symbols, limits.length},
                     {"disturbances.fading.gain_db", d.fading->gain_db, kLevelDb}});
    if (d.gain_ripple)
        append(all,
               {{"disturbances.gain_ripple.period_symbols", d.gain_ripple->period_symbols, limits.length},
                {"disturbances.gain_ripple.gain_db", d.gain_ripple->gain_db, kLevelDb}});
    if (d.warm_up)
        append(all,
               {{"disturbances.warm_up.cycles_per_symbol", d.warm_up->cycles_per_symbol, limits.frequency},
                {"disturbances.warm_up.symbols", d.warm_up->symbols, limits.length}});
    if (d.sweep)
        append(all, {{"disturbances.sweep.cycles_per_symbol", d.sweep->cycles_per_symbol, limits.frequency},
                     {"disturbances.sweep.symbols", d.sweep->symbols, limits.length},
                     {"disturbances.sweep.middle_symbols",
                      d.sweep->middle_symbols,
                      {-kMostTimeSymbols, kMostTimeSymbols}}});
}

}  // namespace

std::vector<ChannelValue> values_of(const ChannelConfig& config) {
    const SampleLimits limits(config);
    Values all = values_of_signal(config, limits);
    append_paths(config, limits, all);
    append_mask(config, all);
    append_lists(config.disturbances, limits, all);
    append_singles(config.disturbances, limits, all);
    return all;
}

std::optional<ChannelValue> first_impossible(const ChannelConfig& config) {
    const Values all = values_of(config);
    const auto wrong = std::ranges::find_if_not(all, &ChannelValue::is_possible);
    return wrong == all.end() ? std::nullopt : std::optional(*wrong);
}

std::string in_words(const ChannelLimits& limits, double unit) {
    const std::string why = limits.why.empty() ? "" : fmt::format(" ({})", limits.why);
    if (limits.most == kAnyMore) return fmt::format("from {:.9g} on{}", limits.least / unit, why);
    return fmt::format("from {:.9g} to {:.9g}{}", limits.least / unit, limits.most / unit, why);
}

}  // namespace tidemill::dvbs2
