#include "tidemill/lab/sim/published.hpp"

#include <algorithm>
#include <charconv>
#include <sstream>
#include <stdexcept>

#include <fmt/format.h>

#include "tidemill/lab/sim/sim_error.hpp"
#include "tidemill/scheduling/static/profile_file.hpp"

namespace tidemill {

namespace {

std::vector<std::string> split(std::string_view line, char separator) {
    std::vector<std::string> parts;
    std::size_t begin = 0;
    for (std::size_t end; (end = line.find(separator, begin)) != std::string_view::npos; begin = end + 1) {
        parts.emplace_back(line.substr(begin, end - begin));
    }
    parts.emplace_back(line.substr(begin));
    return parts;
}

[[noreturn]] void refuse(std::string_view stage) {
    throw ScheduleError(fmt::format("'{}' is no stage: write tasks, B or L, and cores, as in 5B1", stage));
}

int whole(std::string_view digits, std::string_view stage) {
    int value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc{} || end != digits.data() + digits.size() || value < 1) refuse(stage);
    return value;
}

}  // namespace

std::string_view published_text(std::string_view name) {
    const auto found = std::ranges::find(published_texts(), name, &PublishedText::name);
    if (found == published_texts().end()) {
        throw SimError(fmt::format("the program carries no file '{}'", name));
    }
    return found->text;
}

const std::string& PublishedRow::text(std::string_view column) const {
    const auto found = cells_.find(column);
    if (found == cells_.end()) throw SimError(fmt::format("there is no column '{}'", column));
    return found->second;
}

double PublishedRow::number(std::string_view column) const {
    return std::stod(text(column));
}

std::vector<PublishedRow> published_table(std::string_view name) {
    std::istringstream lines{std::string(published_text(fmt::format("published/{}.csv", name)))};
    std::string line;
    std::getline(lines, line);
    const std::vector<std::string> columns = split(line, ',');
    std::vector<PublishedRow> rows;
    while (std::getline(lines, line)) {
        const std::vector<std::string> values = split(line, ',');
        std::map<std::string, std::string, std::less<>> cells;
        for (std::size_t c = 0; c < columns.size(); ++c) cells[columns[c]] = values.at(c);
        rows.emplace_back(std::move(cells));
    }
    return rows;
}

Profile published_profile(std::string_view platform) {
    const std::string name = fmt::format("profiles/dvbs2-rx-{}.json", platform);
    return parse_profile(published_text(name), name);
}

Schedule published_schedule(std::string_view stages) {
    Schedule schedule;
    std::size_t first = 0;
    for (const std::string& text : split(stages, ' ')) {
        const std::size_t kind = text.find_first_of("BL");
        if (kind == std::string::npos) refuse(text);
        const auto tasks = static_cast<std::size_t>(whole(std::string_view(text).substr(0, kind), text));
        const int cores = whole(std::string_view(text).substr(kind + 1), text);
        schedule.stages.push_back({first, tasks, cores, text[kind] == 'B' ? "big" : "little"});
        first += tasks;
    }
    return schedule;
}

double mbps(const Profile& profile, double period_us) {
    return kPublishedBitsPerFrame * profile.frames_per_execution / period_us;
}

}  // namespace tidemill
