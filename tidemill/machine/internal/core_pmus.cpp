#include "tidemill/machine/internal/core_pmus.hpp"

#include <algorithm>
#include <charconv>
#include <sstream>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "tidemill/machine/internal/energy_sensor.hpp"
#include "tidemill/machine/internal/perf_event.hpp"
#include "tidemill/machine/platform_error.hpp"

namespace tidemill::internal {

namespace {

// Names of these events in kernels, on x86, Arm and Apple's cores; the farthest level that a PMU counts
// first.
const std::array<std::vector<std::string_view>, kCounts.size()> kEventNames{
    {{"cpu-cycles", "cpu_cycles", "cycles"},
     {"instructions", "inst_retired"},
     {"cache-misses", "ll_cache_miss_rd", "l3d_cache_refill", "l2d_cache_refill"}}};

constexpr int kBits = 64;

std::uint64_t parse_word(std::string_view text, const std::string& where) {
    const bool is_hex = text.starts_with("0x");
    const std::string_view digits = is_hex ? text.substr(2) : text;
    std::uint64_t word = 0;
    const auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), word, is_hex ? 16 : 10);
    if (error == std::errc{} && end == digits.data() + digits.size()) return word;
    throw PlatformError(fmt::format("{}: \"{}\" is not a number", where, text));
}

// "config:0-7,32-35" as bit numbers; none where the word lies elsewhere, as in "config1:0-63".
std::vector<int> bits_of(const std::string& path) {
    const std::string text = read_line(path);
    constexpr std::string_view kPlace = "config:";
    std::vector<int> bits;
    if (!text.starts_with(kPlace)) return bits;
    std::istringstream list(text.substr(kPlace.size()));
    for (std::string range; std::getline(list, range, ',');) {
        const std::size_t dash = range.find('-');
        const std::uint64_t first = parse_word(range.substr(0, dash), path);
        const std::uint64_t last =
            dash == std::string::npos ? first : parse_word(range.substr(dash + 1), path);
        if (last >= kBits) throw PlatformError(fmt::format("{}: \"{}\" are no bits of 64", path, text));
        for (std::uint64_t bit = first; bit <= last; ++bit) bits.push_back(static_cast<int>(bit));
    }
    return bits;
}

std::uint64_t spread(std::uint64_t value, const std::vector<int>& bits) {
    std::uint64_t number = 0;
    for (std::size_t bit = 0; bit < std::min<std::size_t>(bits.size(), kBits); ++bit)
        number |= (value >> bit & 1) << bits[bit];
    return number;
}

std::optional<std::uint64_t> find_event(const std::string& pmu, const std::vector<std::string_view>& names) {
    for (const std::string_view name : names) {
        const std::string path = fmt::format("{}/events/{}", pmu, name);
        if (!exists(path)) continue;
        if (const auto number = event_number(read_line(path), pmu + "/format")) return number;
    }
    return std::nullopt;
}

// Others, of a memory controller or a package, say which CPU speaks for them ("cpumask").
bool is_of_cores(const std::string& pmu) {
    return exists(pmu + "/cpus") || pmu.ends_with("/cpu");
}

CorePmu read_pmu(const std::string& path) {
    CorePmu pmu{.name = path.substr(path.rfind('/') + 1),
                .type = static_cast<std::uint32_t>(std::clamp(read_number(path + "/type"), 0.0, 4e9))};
    if (exists(path + "/cpus")) pmu.cpus = read_cpus(path + "/cpus");
    for (std::size_t event = 0; event < pmu.events.size(); ++event)
        pmu.events[event] = find_event(path, kEventNames[event]);
    return pmu;
}

}  // namespace

std::optional<std::uint64_t> event_number(const std::string& text, const std::string& format_folder) {
    std::uint64_t number = 0;
    std::istringstream words(text);
    for (std::string word; std::getline(words, word, ',');) {
        const std::size_t equals = word.find('=');
        const std::string name = word.substr(0, equals);
        if (name.empty() || name.find('/') != std::string::npos)
            throw PlatformError(fmt::format("{}: \"{}\" is not an event", format_folder, text));
        const std::vector<int> bits = bits_of(fmt::format("{}/{}", format_folder, name));
        if (bits.empty()) return std::nullopt;
        number |= spread(equals == std::string::npos ? 1 : parse_word(word.substr(equals + 1), text), bits);
    }
    return number;
}

std::vector<CorePmu> core_pmus(const std::string& sys_root) {
    std::vector<CorePmu> pmus;
    for (const std::string& path : entries(sys_root + "/bus/event_source/devices", "")) {
        if (!is_of_cores(path)) continue;
        CorePmu pmu = read_pmu(path);
        const bool off_line = exists(path + "/cpus") && pmu.cpus.empty();
        if (!off_line) pmus.push_back(std::move(pmu));
    }
    return pmus;
}

}  // namespace tidemill::internal
