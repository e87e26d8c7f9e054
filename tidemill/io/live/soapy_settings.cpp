#include "tidemill/io/live/soapy_settings.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <iterator>
#include <optional>

#include <fmt/format.h>

#include "tidemill/io/io_error.hpp"
#include "tidemill/io/live/internal/soapy_api.hpp"

namespace tidemill::io {

namespace {

constexpr double kMega = 1e-6;

// Where a radio names no range it takes any value, or refuses it.
bool is_within(const std::vector<RadioRange>& ranges, double value) {
    const double rounding = 1e-9 * std::abs(value);
    return ranges.empty() || std::ranges::any_of(ranges, [&](const RadioRange& range) {
               return value >= range.least - rounding && value <= range.most + rounding;
           });
}

[[noreturn]] void refuse(const SoapyDevice& radio, const std::string& what) {
    throw IoError(fmt::format("the radio '{}' {}", radio.place(), what));
}

std::string listed(const std::vector<std::string>& names) {
    if (names.empty()) return "none";
    std::string text;
    for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
    return text;
}

double set_rate(const SoapyDevice& radio, double rate_hz) {
    const auto rates = radio.rates();
    if (!is_within(rates, rate_hz))
        refuse(radio, fmt::format("cannot do {:.10g} MS/s; it has {} MS/s: say so with --rate",
                                  rate_hz * kMega, ranges_text(rates, kMega)));
    const auto& api = radio.api();
    radio.check(api.set_rate(radio.handle(), radio.direction(), 0, rate_hz),
                fmt::format("refuses {:.10g} MS/s", rate_hz * kMega));
    const double given_hz = api.rate(radio.handle(), radio.direction(), 0);
    if (!(given_hz > 0) || !std::isfinite(given_hz))
        refuse(radio, fmt::format("says that it gives {} samples per second", given_hz));
    return given_hz;
}

// The filter before the converter, where there is one, lets the whole rate pass. Some choose it by
// themselves, so that this one fails does not matter.
void open_filter(const SoapyDevice& radio, double rate_hz) {
    const auto widths = radio.bandwidths();
    if (widths.empty()) return;
    const double width_hz =
        std::clamp(rate_hz, widths.front().least, std::max(widths.front().least, widths.back().most));
    if (width_hz > 0) radio.api().set_bandwidth(radio.handle(), radio.direction(), 0, width_hz);
}

// A radio that cannot correct its oscillator is set to the frequency at which that one will be right.
double corrected_hz(const SoapyDevice& radio, const RadioSettings& settings) {
    const auto& api = radio.api();
    if (!api.has_frequency_correction(radio.handle(), radio.direction(), 0))
        return settings.frequency_hz / (1 + settings.correction_ppm * 1e-6);
    if (settings.correction_ppm != 0)
        radio.check(
            api.set_frequency_correction(radio.handle(), radio.direction(), 0, settings.correction_ppm),
            "refuses the correction of its frequency");
    return settings.frequency_hz;
}

void tune(const SoapyDevice& radio, const RadioSettings& settings) {
    const double wanted_hz = corrected_hz(radio, settings);
    const auto ranges = radio.frequencies();
    if (!is_within(ranges, wanted_hz))
        refuse(radio, fmt::format("cannot be tuned to {:.10g} MHz; it reaches {} MHz", wanted_hz * kMega,
                                  ranges_text(ranges, kMega)));
    radio.check(radio.api().set_frequency(radio.handle(), radio.direction(), 0, wanted_hz, nullptr),
                fmt::format("refuses to be tuned to {:.10g} MHz", wanted_hz * kMega));
}

void choose_antenna(const SoapyDevice& radio, const std::string& antenna) {
    if (antenna.empty()) return;
    const auto antennas = radio.antennas();
    if (std::ranges::find(antennas, antenna) == antennas.end())
        refuse(radio, fmt::format("has no antenna '{}'; it has {}", antenna, listed(antennas)));
    radio.check(radio.api().set_antenna(radio.handle(), radio.direction(), 0, antenna.c_str()),
                "refuses the antenna");
}

void write(const SoapyDevice& radio, const std::string& key, const std::string& value) {
    const auto has = [&](const std::vector<std::string>& keys) {
        return std::ranges::find(keys, key) != keys.end();
    };
    const auto& api = radio.api();
    const std::string refused = fmt::format("refuses the setting {}={}", key, value);
    if (has(radio.settings())) {
        radio.check(api.write_setting(radio.handle(), key.c_str(), value.c_str()), refused);
    } else if (has(radio.channel_settings())) {
        radio.check(
            api.write_channel_setting(radio.handle(), radio.direction(), 0, key.c_str(), value.c_str()),
            refused);
    } else {
        auto keys = radio.settings();
        std::ranges::copy(radio.channel_settings(), std::back_inserter(keys));
        refuse(radio, fmt::format("has no setting '{}'; it has {}", key, listed(keys)));
    }
}

// The first setting whose name begins so, whatever its case: modules call one thing by several names.
std::optional<std::string> setting_like(const SoapyDevice& radio, std::string_view beginning) {
    auto keys = radio.settings();
    std::ranges::copy(radio.channel_settings(), std::back_inserter(keys));
    const auto begins = [&](const std::string& key) {
        return std::ranges::equal(key.substr(0, beginning.size()), beginning, {},
                                  [](unsigned char letter) { return std::tolower(letter); });
    };
    const auto found = std::ranges::find_if(keys, begins);
    return found == keys.end() ? std::nullopt : std::optional(*found);
}

// RTL-SDRs have one of their own, behind the tuner's; others have one alone.
void switch_on_agc(const SoapyDevice& radio, const RadioSettings& settings) {
    if (!settings.digital_agc) return;
    const auto& api = radio.api();
    if (const auto key = setting_like(radio, "digital_agc")) return write(radio, *key, "true");
    if (!api.has_gain_mode(radio.handle(), radio.direction(), 0))
        refuse(radio, "has no gain control of its own: leave --agc out, and give --gain");
    if (settings.gain_db) refuse(radio, "takes either --gain or --agc");
}

void feed_antenna(const SoapyDevice& radio, bool bias_tee) {
    if (!bias_tee) return;
    const auto key = setting_like(radio, "bias");
    if (!key)
        refuse(radio, "has no setting for a bias-tee; should it have another name, give --setting KEY=VALUE");
    write(radio, *key, "true");
}

}  // namespace

void set_gain(const SoapyDevice& radio, std::optional<double> gain_db) {
    const auto& api = radio.api();
    if (api.has_gain_mode(radio.handle(), radio.direction(), 0))
        radio.check(api.set_gain_mode(radio.handle(), radio.direction(), 0, !gain_db),
                    "refuses the mode of its gain");
    if (!gain_db) return;
    const RadioRange range = radio.gain_db();
    if (range.most > range.least && !is_within({range}, *gain_db))
        refuse(radio,
               fmt::format("has no gain of {} dB; it has {} to {} dB", *gain_db, range.least, range.most));
    radio.check(api.set_gain(radio.handle(), radio.direction(), 0, *gain_db), "refuses the gain");
}

double set_up_radio(const SoapyDevice& radio, const RadioSettings& settings) {
    choose_antenna(radio, settings.antenna);
    const double given_hz = set_rate(radio, settings.sample_rate_hz);
    open_filter(radio, given_hz);
    tune(radio, settings);
    set_gain(radio, settings.gain_db);
    switch_on_agc(radio, settings);
    feed_antenna(radio, settings.bias_tee);
    for (const auto& [key, value] : settings.settings) write(radio, key, value);
    return given_hz;
}

}  // namespace tidemill::io
