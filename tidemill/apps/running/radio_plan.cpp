#include "tidemill/apps/running/radio_plan.hpp"

#include <utility>

#include <fmt/format.h>

#include "tidemill/base/cli_error.hpp"

namespace tidemill::cli {

namespace {

// From the middle to the carrier, or 0 where there is no room for that. The filters of radios fall off at
// both ends of what they give.
double distance_aside_hz(double symbol_rate_hz, double sample_rate_hz) {
    constexpr double kWidestRolloff = 0.35, kGuardHz = 25e3, kUsable = 0.45;
    const double half_width_hz = symbol_rate_hz * (1 + kWidestRolloff) / 2;
    const double aside_hz = half_width_hz + kGuardHz;
    return aside_hz + half_width_hz <= kUsable * sample_rate_hz ? aside_hz : 0;
}

std::vector<std::pair<std::string, std::string>> settings_of(const std::vector<std::string>& texts) {
    std::vector<std::pair<std::string, std::string>> settings;
    for (const std::string& text : texts) {
        const std::size_t equals = text.find('=');
        if (equals == 0 || equals == std::string::npos)
            throw WrongUsage(fmt::format("--setting {}: give KEY=VALUE, as --setting biastee=true", text));
        settings.emplace_back(text.substr(0, equals), text.substr(equals + 1));
    }
    return settings;
}

// As a shell takes it for one word, whatever stands in it.
std::string one_word(const std::string& text) {
    std::string word = "'";
    for (const char letter : text) word += letter == '\'' ? std::string("'\\''") : std::string(1, letter);
    return word + "'";
}

}  // namespace

RadioPlan radio_plan(const RadioOptions& options, const RadioDemand& wanted) {
    if (!options.frequency_hz)
        throw WrongUsage("--freq: say at which frequency the carrier is: --freq 741.5M");
    if (!wanted.sample_rate_hz)
        throw WrongUsage("--rate: say how many samples per second the radio is to give: --rate 2.4M");
    const bool may_move = wanted.symbol_rate_hz > 0 && !wanted.carrier_is_placed;
    const double aside_hz = may_move ? distance_aside_hz(wanted.symbol_rate_hz, *wanted.sample_rate_hz) : 0;
    const double tuned_hz = *options.frequency_hz - options.lo_hz.value_or(0) - aside_hz;
    if (tuned_hz <= 0)
        throw WrongUsage(fmt::format("--freq {} and --lo {}: a radio cannot be tuned below 0 Hz",
                                     *options.frequency_hz, options.lo_hz.value_or(0)));
    RadioPlan plan;
    plan.settings = {.frequency_hz = tuned_hz,
                     .sample_rate_hz = *wanted.sample_rate_hz,
                     .gain_db = options.gain_db,
                     .digital_agc = options.digital_agc,
                     .correction_ppm = options.correction_ppm.value_or(0),
                     .bias_tee = options.bias_tee,
                     .antenna = options.antenna,
                     .settings = settings_of(options.settings)};
    if (aside_hz > 0) plan.carrier_hz = aside_hz;
    return plan;
}

std::string options_text(const RadioOptions& options) {
    std::string text;
    if (options.frequency_hz) text += fmt::format(" --freq {}", *options.frequency_hz);
    if (options.lo_hz) text += fmt::format(" --lo {}", *options.lo_hz);
    if (options.gain_db) text += fmt::format(" --gain {}", *options.gain_db);
    if (options.correction_ppm) text += fmt::format(" --ppm {}", *options.correction_ppm);
    if (options.digital_agc) text += " --agc";
    if (options.bias_tee) text += " --bias-tee";
    if (!options.antenna.empty()) text += " --antenna " + one_word(options.antenna);
    for (const std::string& setting : options.settings) text += " --setting " + one_word(setting);
    return text;
}

}  // namespace tidemill::cli
