#include "tidemill/io/recording_name.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <span>
#include <string>
#include <vector>

namespace tidemill::io {
namespace {

using dsp::SampleFormat;

struct RawExtension {
    std::string_view extension;
    SampleFormat format;
};

constexpr std::array<RawExtension, 10> kRawExtensions = {{{"cf32", SampleFormat::cf32},
                                                          {"fc32", SampleFormat::cf32},
                                                          {"cfile", SampleFormat::cf32},
                                                          {"cf64", SampleFormat::cf64},
                                                          {"ci16", SampleFormat::ci16},
                                                          {"cs16", SampleFormat::ci16},
                                                          {"sc16", SampleFormat::ci16},
                                                          {"ci8", SampleFormat::ci8},
                                                          {"cs8", SampleFormat::ci8},
                                                          {"cu8", SampleFormat::cu8}}};

struct Unit {
    std::string_view name;
    double factor;
};

constexpr std::array<Unit, 3> kRates = {{{"MSPS", 1e6}, {"KSPS", 1e3}, {"SPS", 1}}};
constexpr std::array<Unit, 3> kFrequencies = {{{"MHZ", 1e6}, {"KHZ", 1e3}, {"HZ", 1}}};

// Beyond these a number is something else, such as a date.
constexpr double kMostHz = 1e12;

std::string in_capitals(std::string_view text) {
    std::string capitals(text);
    for (char& c : capitals)
        if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
    return capitals;
}

std::optional<double> plain_number(std::string_view text) {
    double value = 0;
    const auto [end, error] =
        std::from_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed);
    if (error != std::errc() || end != text.data() + text.size() || !(value >= 1 && value <= kMostHz))
        return std::nullopt;
    return value;
}

std::optional<double> with_unit(std::string_view word, std::span<const Unit> units) {
    const std::string capitals = in_capitals(word);
    for (const Unit& unit : units) {
        if (!capitals.ends_with(unit.name)) continue;
        const auto value = plain_number(word.substr(0, word.size() - unit.name.size()));
        return value ? std::optional(*value * unit.factor) : std::nullopt;
    }
    return std::nullopt;
}

std::vector<std::string_view> words_of(std::string_view name) {
    std::vector<std::string_view> words;
    while (!name.empty()) {
        const std::size_t end = std::min(name.find_first_of("_- "), name.size());
        words.push_back(name.substr(0, end));
        name.remove_prefix(std::min(end + 1, name.size()));
    }
    return words;
}

void read_gqrx(std::span<const std::string_view> words, RecordingName& told) {
    constexpr std::size_t kFrequency = 3, kRate = 4, kKind = 5;
    if (words.size() <= kKind || words[0] != "gqrx" || words[kKind] != "fc") return;
    told.center_frequency_hz = plain_number(words[kFrequency]);
    told.sample_rate_hz = plain_number(words[kRate]);
    told.format = SampleFormat::cf32;
}

}  // namespace

RecordingName read_recording_name(std::string_view name) {
    RecordingName told;
    const std::size_t dot = name.rfind('.');
    const std::string_view stem = name.substr(0, dot);
    const std::string_view extension = dot == std::string_view::npos ? "" : name.substr(dot + 1);
    const std::vector<std::string_view> words = words_of(stem);
    read_gqrx(words, told);
    for (const std::string_view word : words) {
        if (const auto rate = with_unit(word, kRates)) told.sample_rate_hz = rate;
        if (const auto frequency = with_unit(word, kFrequencies)) told.center_frequency_hz = frequency;
    }
    for (const RawExtension& raw : kRawExtensions)
        if (extension == raw.extension) told.format = raw.format;
    return told;
}

}  // namespace tidemill::io
