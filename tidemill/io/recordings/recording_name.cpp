#include "tidemill/io/recordings/recording_name.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tidemill/io/files/internal/packed_file.hpp"

namespace tidemill::io {
namespace {

using dsp::SampleFormat;

struct RawExtension {
    std::string_view extension;
    SampleFormat format;
    StoredIntegers integers{};
};

constexpr StoredIntegers kSigned32{.bytes = 4, .bits = 32};
constexpr StoredIntegers kUnsigned16{.bytes = 2, .bits = 16, .is_unsigned = true};
constexpr StoredIntegers kUnsigned32{.bytes = 4, .bits = 32, .is_unsigned = true};

// I and Q in turn, little endian. The complex... of the Universal Radio Hacker count the bits of both.
constexpr RawExtension kRawExtensions[] = {
    {"cf32", SampleFormat::cf32},
    {"fc32", SampleFormat::cf32},
    {"f32", SampleFormat::cf32},
    {"cfile", SampleFormat::cf32},
    {"complex", SampleFormat::cf32},
    {"complex64", SampleFormat::cf32},
    {"cf64", SampleFormat::cf64},
    {"fc64", SampleFormat::cf64},
    {"f64", SampleFormat::cf64},
    {"complex128", SampleFormat::cf64},
    {"ci16", SampleFormat::ci16},
    {"cs16", SampleFormat::ci16},
    {"sc16", SampleFormat::ci16},
    {"s16", SampleFormat::ci16},
    {"i16", SampleFormat::ci16},
    {"c16", SampleFormat::ci16},
    {"sc16q11", SampleFormat::ci16},
    {"complex32s", SampleFormat::ci16},
    {"ci8", SampleFormat::ci8},
    {"cs8", SampleFormat::ci8},
    {"sc8", SampleFormat::ci8},
    {"s8", SampleFormat::ci8},
    {"i8", SampleFormat::ci8},
    {"c8", SampleFormat::ci8},
    {"sc8q7", SampleFormat::ci8},
    {"complex16s", SampleFormat::ci8},
    {"cu8", SampleFormat::cu8},
    {"uc8", SampleFormat::cu8},
    {"u8", SampleFormat::cu8},
    {"complex16u", SampleFormat::cu8},
    {"ci32", SampleFormat::cf32, kSigned32},
    {"cs32", SampleFormat::cf32, kSigned32},
    {"sc32", SampleFormat::cf32, kSigned32},
    {"s32", SampleFormat::cf32, kSigned32},
    {"i32", SampleFormat::cf32, kSigned32},
    {"cu16", SampleFormat::cf32, kUnsigned16},
    {"uc16", SampleFormat::cf32, kUnsigned16},
    {"u16", SampleFormat::cf32, kUnsigned16},
    {"complex32u", SampleFormat::cf32, kUnsigned16},
    {"cu32", SampleFormat::cf32, kUnsigned32},
    {"u32", SampleFormat::cf32, kUnsigned32},
};

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

// All that stand there, each once.
std::vector<double> with_units(std::span<const std::string_view> words, std::span<const Unit> units) {
    std::vector<double> values;
    for (const std::string_view word : words) {
        const auto value = with_unit(word, units);
        if (value && std::ranges::find(values, *value) == values.end()) values.push_back(*value);
    }
    return values;
}

std::vector<std::string_view> words_of(std::string_view name, std::string_view between) {
    std::vector<std::string_view> words;
    while (!name.empty()) {
        const std::size_t end = std::min(name.find_first_of(between), name.size());
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

// NAME_433.92M_250k
void read_rtl_433(std::span<const std::string_view> words, RecordingName& told) {
    constexpr Unit kMega[] = {{"M", 1e6}}, kKilo[] = {{"K", 1e3}};
    for (std::size_t i = 0; i + 1 < words.size(); ++i) {
        const auto frequency = with_unit(words[i], kMega), rate = with_unit(words[i + 1], kKilo);
        if (!frequency || !rate) continue;
        told.center_frequency_hz = frequency;
        told.sample_rate_hz = rate;
    }
}

// NAME-433_92MHz-2MSps-2MHz: lines in numbers are points, and the last is the bandwidth.
bool read_radio_hacker(std::string_view stem, RecordingName& told) {
    const auto words = words_of(stem, "-");
    for (std::size_t i = 0; i + 2 < words.size(); ++i) {
        std::vector<std::string> pointed;
        for (std::size_t k = i; k < i + 3; ++k) {
            pointed.emplace_back(words[k]);
            std::ranges::replace(pointed.back(), '_', '.');
        }
        const auto frequency = with_unit(pointed[0], kFrequencies), rate = with_unit(pointed[1], kRates);
        if (!frequency || !rate || !with_unit(pointed[2], kFrequencies)) continue;
        told.center_frequency_hz = frequency;
        told.sample_rate_hz = rate;
        return true;
    }
    return false;
}

void read_units(std::span<const std::string_view> words, RecordingName& told) {
    const auto rates = with_units(words, kRates), frequencies = with_units(words, kFrequencies);
    if (!rates.empty()) told.sample_rate_hz = std::ranges::max(rates);
    if (!frequencies.empty()) told.center_frequency_hz = frequencies.front();
    if (rates.size() > 1)
        told.warnings.push_back(fmt::format(
            "its name has the rates {}: the highest is taken for that of the samples, as symbols are fewer",
            fmt::join(rates, ", ")));
    if (frequencies.size() > 1)
        told.warnings.push_back(fmt::format("its name has the frequencies {} Hz: the first is taken",
                                            fmt::join(frequencies, ", ")));
}

void read_extension(std::string_view extension, RecordingName& told) {
    const std::string capitals = in_capitals(extension);
    for (const RawExtension& raw : kRawExtensions) {
        if (capitals != in_capitals(raw.extension)) continue;
        told.format = raw.format;
        told.integers = raw.integers;
    }
}

}  // namespace

RecordingName read_recording_name(std::string_view whole_name) {
    RecordingName told;
    const std::string name = internal::without_packing(whole_name).string();
    const std::size_t dot = name.rfind('.');
    const std::string_view stem = std::string_view(name).substr(0, dot);
    const std::vector<std::string_view> words = words_of(stem, "_- ");
    read_gqrx(words, told);
    read_rtl_433(words, told);
    if (!read_radio_hacker(stem, told)) read_units(words, told);
    if (dot != std::string::npos) read_extension(std::string_view(name).substr(dot + 1), told);
    return told;
}

std::string raw_extensions() {
    std::vector<std::string> all;
    for (const RawExtension& raw : kRawExtensions) all.push_back(fmt::format(".{}", raw.extension));
    return fmt::format("{}", fmt::join(all, " "));
}

}  // namespace tidemill::io
