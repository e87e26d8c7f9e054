#include "tidemill/machine/internal/energy_sensor.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <utility>

#include <fmt/format.h>

#include "tidemill/machine/platform_error.hpp"

namespace tidemill::internal {

namespace {

constexpr std::size_t kMostLineBytes = 4096;  // not every file ends
constexpr std::string_view kBlanks = " \t\r\n";

std::string_view trimmed(std::string_view text) {
    const std::size_t first = text.find_first_not_of(kBlanks);
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

struct Unit {
    std::string_view name;
    Measures measures;
    double factor;
};

constexpr Unit kUnits[] = {{"W", Measures::kWatts, 1},      {"mW", Measures::kWatts, 1e-3},
                           {"uW", Measures::kWatts, 1e-6},  {"kW", Measures::kWatts, 1e3},
                           {"J", Measures::kJoules, 1},     {"mJ", Measures::kJoules, 1e-3},
                           {"uJ", Measures::kJoules, 1e-6}, {"kJ", Measures::kJoules, 1e3},
                           {"Wh", Measures::kJoules, 3600}, {"kWh", Measures::kJoules, 3.6e6}};

}  // namespace

bool exists(const std::string& path) {
    std::error_code none;
    return std::filesystem::exists(path, none);
}

std::string read_line(const std::string& path) {
    errno = 0;
    std::ifstream file(path);
    std::array<char, kMostLineBytes> line{};
    if (file.getline(line.data(), line.size())) return std::string(trimmed(line.data()));
    const int error = errno;
    throw PlatformError(fmt::format("{}: {}{}", path, error != 0 ? std::strerror(error) : "is empty",
                                    error == EACCES ? " (root may grant it: chmod a+r)" : ""));
}

double parse_number(std::string_view text, const std::string& where) {
    double number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(number)) {
        throw PlatformError(fmt::format("{}: \"{}\" is not a number", where, text));
    }
    return number;
}

double read_number(const std::string& path) {
    return parse_number(read_line(path), path);
}

std::vector<std::string> entries(const std::string& folder, std::string_view prefix) {
    std::vector<std::string> found;
    std::error_code error;
    for (std::filesystem::directory_iterator it(folder, error), end; !error && it != end;
         it.increment(error)) {
        if (it->path().filename().string().starts_with(prefix)) found.push_back(it->path().string());
    }
    std::sort(found.begin(), found.end());
    return found;
}

UnitReading parse_reading(std::string_view text, const std::string& where) {
    const std::string_view reading = trimmed(text);
    const std::size_t split = reading.find_first_of(kBlanks);
    if (split != std::string_view::npos) {
        const std::string_view unit_name = trimmed(reading.substr(split));
        const auto* const unit = std::ranges::find(kUnits, unit_name, &Unit::name);
        const double number = parse_number(reading.substr(0, split), where);
        if (unit != std::end(kUnits) && number >= 0) return {number * unit->factor, unit->measures};
    }
    throw PlatformError(
        fmt::format("{}: \"{}\" is not a reading: write a number of at least 0 and W, mW, uW, kW, J, mJ, uJ, "
                    "kJ, Wh or kWh",
                    where, reading));
}

}  // namespace tidemill::internal
