#include "tidemill/loopback/loopback_options.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <string_view>

#include <fmt/format.h>

#include "tidemill/io/files/number_text.hpp"

namespace tidemill::loopback {

namespace {

constexpr double kLongestS = 1e6;

double number(std::string_view key, std::string_view text, double least, double most) {
    if (const auto value = io::real_number(text); value && *value >= least && *value <= most) return *value;
    throw LoopbackError(fmt::format("{}={}: give a number from {} to {}", key, text, least, most));
}

bool truth(std::string_view key, std::string_view text) {
    if (text == "1" || text == "true") return true;
    if (text == "0" || text == "false") return false;
    throw LoopbackError(fmt::format("{}={}: give true or false", key, text));
}

// Stretches of a text like "1.5+0.01:3+0.2".
std::vector<Stretch> stretches(std::string_view key, std::string_view text) {
    std::vector<Stretch> list;
    while (!text.empty()) {
        const std::string_view one = text.substr(0, text.find(':'));
        const std::size_t plus = one.find('+');
        if (plus == std::string_view::npos)
            throw LoopbackError(fmt::format(
                "{}={}: give SECONDS+SECONDS, when and for how long; several with colons", key, one));
        list.push_back({number(key, one.substr(0, plus), 0, kLongestS),
                        number(key, one.substr(plus + 1), 0, kLongestS)});
        text.remove_prefix(std::min(text.size(), one.size() + 1));
    }
    std::ranges::sort(list, {}, &Stretch::at_s);
    return list;
}

// Becomes part of a name in the system's shared memory.
std::string air_name(std::string_view text) {
    constexpr std::size_t kLongest = 32;
    const auto fits = [](unsigned char letter) {
        return (letter >= 'a' && letter <= 'z') || (letter >= '0' && letter <= '9') || letter == '-';
    };
    if (!text.empty() && text.size() <= kLongest && std::ranges::all_of(text, fits)) return std::string(text);
    throw LoopbackError(fmt::format("air={}: give up to {} of a to z, 0 to 9 and -", text, kLongest));
}

bool pace_is_fast(std::string_view text) {
    if (text == "fast") return true;
    if (text == "real") return false;
    throw LoopbackError(fmt::format("pace={}: give real, for the clock on the wall, or fast", text));
}

using Set = std::function<void(LoopbackOptions&, std::string_view key, std::string_view value)>;

template <class Value>
Set set_channel(Value dvbs2::ChannelConfig::*value, double least, double most) {
    return [=](LoopbackOptions& options, std::string_view key, std::string_view text) {
        options.channel.config.*value = static_cast<Value>(number(key, text, least, most));
        options.channel.is_plain = false;
    };
}

Set set_channel(double LoopbackChannel::*value, double least, double most) {
    return [=](LoopbackOptions& options, std::string_view key, std::string_view text) {
        options.channel.*value = number(key, text, least, most);
        options.channel.is_plain = false;
    };
}

Set set(double LoopbackOptions::*value, double least, double most) {
    return [=](LoopbackOptions& options, std::string_view key, std::string_view text) {
        options.*value = number(key, text, least, most);
    };
}

Set set(std::vector<Stretch> LoopbackOptions::*value) {
    return [=](LoopbackOptions& options, std::string_view key, std::string_view text) {
        options.*value = stretches(key, text);
    };
}

Set set(bool LoopbackOptions::*value) {
    return [=](LoopbackOptions& options, std::string_view key, std::string_view text) {
        options.*value = truth(key, text);
    };
}

// The channel's as `tidemill dvbs2 channel` has them.
const std::map<std::string, Set, std::less<>>& setters() {
    using Config = dvbs2::ChannelConfig;
    static const std::map<std::string, Set, std::less<>> all{
        {"file", [](LoopbackOptions& options, auto, auto text) { options.file = text; }},
        {"air", [](LoopbackOptions& options, auto, auto text) { options.air = air_name(text); }},
        {"pace", [](LoopbackOptions& options, auto, auto text) { options.fast = pace_is_fast(text); }},
        {"repeat", set(&LoopbackOptions::repeat)},
        {"times", set(&LoopbackOptions::has_times)},
        {"buffer", set(&LoopbackOptions::buffer_s, 0.001, 0.2)},
        {"late", set(&LoopbackOptions::late_s, 0, kLongestS)},
        {"overflow", set(&LoopbackOptions::overflows)},
        {"timeout", set(&LoopbackOptions::timeouts)},
        {"unplug", set(&LoopbackOptions::unplugged)},
        {"esn0", set_channel(&Config::esn0_db, -20, 100)},
        {"cfo", set_channel(&LoopbackChannel::offset_hz, -1e9, 1e9)},
        {"drift", set_channel(&LoopbackChannel::drift_hz_per_s, -1e9, 1e9)},
        {"symbol-rate", set_channel(&LoopbackChannel::symbol_rate_hz, 1, 1e9)},
        {"level", set_channel(&LoopbackChannel::level_dbfs, -60, 0)},
        {"phase", set_channel(&Config::phase_rad, -10, 10)},
        {"phase-noise", set_channel(&Config::phase_noise_deg, 0, 360)},
        {"ppm", set_channel(&Config::clock_offset_ppm, -1e4, 1e4)},
        {"delay", set_channel(&Config::delay_symbols, 0, 1e6)},
        {"invert", set_channel(&Config::inverted_spectrum, 0, 1)},
        {"iq-gain", set_channel(&Config::iq_gain_db, -20, 20)},
        {"iq-angle", set_channel(&Config::iq_angle_deg, -45, 45)},
        {"seed", set_channel(&Config::seed, 0, 1e15)}};
    return all;
}

}  // namespace

LoopbackOptions parse_loopback(const std::map<std::string, std::string>& arguments) {
    LoopbackOptions options;
    for (const auto& [key, value] : arguments) {
        const auto setter = setters().find(key);
        if (setter != setters().end()) setter->second(options, key, value);
    }
    if (options.fast && !(options.timeouts.empty() && options.unplugged.empty() && options.late_s == 0))
        throw LoopbackError("pace=fast has no clock for late, timeout or unplug");
    if (std::isfinite(options.channel.config.esn0_db) && options.channel.symbol_rate_hz == 0)
        throw LoopbackError("esn0 needs the signal's symbol rate: give symbol-rate=HZ, too");
    return options;
}

dvbs2::ChannelConfig channel_at(const LoopbackChannel& channel, double sample_rate_hz, double offset_hz) {
    dvbs2::ChannelConfig config = channel.config;
    const double symbol_rate_hz = channel.symbol_rate_hz > 0 ? channel.symbol_rate_hz : sample_rate_hz / 2;
    config.samples_per_symbol = sample_rate_hz / symbol_rate_hz;
    config.frequency_cycles_per_symbol = offset_hz / symbol_rate_hz;
    config.drift_cycles_per_symbol2 = channel.drift_hz_per_s / symbol_rate_hz / symbol_rate_hz;
    return config;
}

}  // namespace tidemill::loopback
