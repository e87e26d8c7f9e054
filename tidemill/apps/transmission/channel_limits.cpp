#include "tidemill/apps/transmission/channel_limits.hpp"

#include <algorithm>
#include <cassert>
#include <numbers>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "tidemill/dvbs2/channel/channel_values.hpp"

namespace tidemill::cli {

namespace {

enum class PartUnit { of_field, hz, hz_per_s, degrees, seconds };

/// Part of an option that sets a field.
struct OptionPart {
    std::string_view field, option, name;
    PartUnit unit = PartUnit::of_field;
};

// Parts for fields whose options do not know their range by themselves.
constexpr OptionPart kParts[] = {
    {"samples_per_symbol", "--symbol-rate", "one with samples per symbol"},
    {"rate_ratio", "--rate-ratio", "a number"},
    {"frequency_cycles_per_symbol", "--cfo", "HZ", PartUnit::hz},
    {"clock_drift_ppm_per_symbol", "--clock-drift", "PPM/S", PartUnit::hz},
    {"drift_cycles_per_symbol2", "--drift", "HZ/S", PartUnit::hz_per_s},
    {"delay_symbols", "--delay", "SYMBOLS"},
    {"iq_offset.real", "--dc", "I"},
    {"iq_offset.imag", "--dc", "Q"},
    {"echoes.delay_symbols", "--echo", "SYMBOLS"},
    {"echoes.gain_db", "--echo", "DB"},
    {"echoes.phase_rad", "--echo", "DEGREES", PartUnit::degrees},
    {"dropouts.begin_symbols", "--dropout", "BEGIN"},
    {"dropouts.symbols", "--dropout", "SYMBOLS"},
    {"disturbances.pulses.every_symbols", "--pulses", "EVERY"},
    {"disturbances.pulses.symbols", "--pulses", "SYMBOLS"},
    {"disturbances.pulses.gain_db", "--pulses", "DB"},
    {"disturbances.tones.cycles_per_symbol", "--tone", "HZ", PartUnit::hz},
    {"disturbances.tones.gain_db", "--tone", "DB"},
    {"disturbances.tones.drift_cycles_per_symbol2", "--tone", "HZ/S", PartUnit::hz_per_s},
    {"disturbances.steps.every_symbols", "--steps", "EVERY"},
    {"disturbances.steps.gain_db", "--steps", "DB"},
    {"disturbances.fading.period_symbols", "--fading", "PERIOD"},
    {"disturbances.fading.gain_db", "--fading", "DB"},
    {"disturbances.sweep.cycles_per_symbol", "--sweep", "HZ", PartUnit::hz},
    {"disturbances.sweep.symbols", "--sweep", "SYMBOLS"},
    {"disturbances.sweep.middle_symbols", "--sweep", "MIDDLE"},
    {"disturbances.gain_ripple.period_symbols", "--gain-ripple", "PERIOD"},
    {"disturbances.gain_ripple.gain_db", "--gain-ripple", "DB"},
    {"disturbances.warm_up.cycles_per_symbol", "--warm-up", "HZ", PartUnit::hz},
    {"disturbances.warm_up.symbols", "--warm-up", "SECONDS", PartUnit::seconds},
    {"phase_mask.cycles_per_symbol", "--phase-mask", "HZ", PartUnit::hz},
    {"phase_mask.density_db", "--phase-mask", "DBC", PartUnit::of_field},
    {"disturbances.lost.samples", "--lose", "COUNT"},
};

// One of it, in that of the field.
double in_field(PartUnit unit, double symbol_rate_hz) {
    switch (unit) {
        case PartUnit::of_field:
            return 1;
        case PartUnit::hz:
            return 1 / symbol_rate_hz;
        case PartUnit::hz_per_s:
            return 1 / symbol_rate_hz / symbol_rate_hz;
        case PartUnit::degrees:
            return std::numbers::pi / 180;
        case PartUnit::seconds:
            return symbol_rate_hz;
    }
    return 1;
}

[[noreturn]] void refuse_given(const Verb& verb, std::string_view option, std::size_t index,
                               const std::string& why) {
    const auto found = std::ranges::find(verb.options(), option, &Option::name);
    throw WrongUsage(
        fmt::format("{} {}: {}", option, found->given.at(std::min(index, found->given.size() - 1)), why));
}

/// Where an option's effect begins, in symbols or samples.
struct OptionEffect {
    std::string_view option;
    std::size_t index;
    double begin, end;
    std::string_view unit;
};

std::vector<OptionEffect> effects_of(const dvbs2::ChannelConfig& channel, double sent, double received) {
    const dvbs2::Disturbances& disturbances = channel.disturbances;
    const double sent_symbols = sent / channel.samples_per_symbol;
    const double symbols = received / (channel.samples_per_symbol * channel.rate_ratio);
    std::vector<OptionEffect> effects;
    for (std::size_t i = 0; i < channel.dropouts.size(); ++i)
        effects.push_back({"--dropout", i, channel.dropouts[i].begin_symbols, sent_symbols, "symbol"});
    for (std::size_t i = 0; i < disturbances.lost.size(); ++i)
        effects.push_back({"--lose", i, static_cast<double>(disturbances.lost[i].begin), received, "sample"});
    if (const auto& steps = disturbances.steps)
        effects.push_back({"--steps", 0, steps->every_symbols, symbols, "symbol"});
    if (const auto& pulses = disturbances.pulses; pulses && !pulses->at_random_places)
        effects.push_back({"--pulses", 0, (pulses->every_symbols - pulses->symbols) / 2, symbols, "symbol"});
    return effects;
}

bool lose_all(std::vector<dvbs2::LostSamples> lost, double received) {
    std::ranges::sort(lost, {}, &dvbs2::LostSamples::begin);
    std::uint64_t first_left = 0;
    for (const dvbs2::LostSamples& gap : lost)
        if (gap.begin <= first_left) first_left = std::max(first_left, gap.begin + gap.samples);
    return static_cast<double>(first_left) >= received;
}

}  // namespace

Range range_of(std::string_view field) {
    const auto values = dvbs2::values_of({});
    const auto value = std::ranges::find(values, field, &dvbs2::ChannelValue::field);
    assert(value != values.end());
    return between(value->limits.least, value->limits.most);
}

void check_values(const dvbs2::ChannelConfig& channel, double symbol_rate_hz, const Verb& verb) {
    const auto wrong = dvbs2::first_impossible(channel);
    if (!wrong) return;
    const auto* part = std::ranges::find(kParts, wrong->field, &OptionPart::field);
    assert(part != std::end(kParts));
    const double unit = in_field(part->unit, symbol_rate_hz);
    refuse_given(verb, part->option, wrong->index,
                 fmt::format("give {} {}", part->name, dvbs2::in_words(wrong->limits, unit)));
}

void check_places(const dvbs2::ChannelConfig& channel, std::uint64_t samples, const Verb& verb) {
    const auto sent = static_cast<double>(samples);
    const double received =
        sent * channel.rate_ratio + static_cast<double>(channel.lead_samples + channel.tail_samples);
    for (const OptionEffect& effect : effects_of(channel, sent, received)) {
        if (effect.begin < effect.end) continue;
        refuse_given(verb, effect.option, effect.index,
                     fmt::format("that begins at {0} {1:.9g}, and the recording ends at {0} {2:.9g}",
                                 effect.unit, effect.begin, effect.end));
    }
    if (lose_all(channel.disturbances.lost, received))
        throw WrongUsage(fmt::format("--lose: none of {:.0f} samples would be left", received));
}

}  // namespace tidemill::cli
