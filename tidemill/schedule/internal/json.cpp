#include "tidemill/schedule/internal/json.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <set>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "tidemill/schedule/schedule_error.hpp"

namespace tidemill::internal {
namespace {

std::string line_and_column(std::string_view text, std::size_t byte) {
    const std::string_view before = text.substr(0, std::min(byte > 0 ? byte - 1 : 0, text.size()));
    const auto line = 1 + std::ranges::count(before, '\n');
    const auto line_begin = before.rfind('\n');
    const auto column = 1 + before.size() - (line_begin == std::string_view::npos ? 0 : line_begin + 1);
    return fmt::format("{}:{}", line, column);
}

// The library's message without its own idea of the position.
std::string reason(const Json::exception& error) {
    const std::string_view message = error.what();
    const auto colon = message.find(": ");
    return std::string(colon == std::string_view::npos ? message : message.substr(colon + 2));
}

std::string underscored(std::string_view key) {
    std::string result(key);
    std::ranges::replace(result, '-', '_');
    return result;
}

// Only plain values are shown: printing nested ones recurses, as deep as a hostile file likes.
std::string shown(const Json& value) {
    return value.is_structured() ? value.type_name() : value.dump();
}

/// Remembers the keys of the objects that are open, since the parser keeps only the last of equal ones.
class DuplicateKeys {
  public:
    explicit DuplicateKeys(std::string_view source) : source_(source) {}

    bool operator()(Json::parse_event_t event, Json& parsed) {
        if (event == Json::parse_event_t::object_start) open_.emplace_back();
        if (event == Json::parse_event_t::object_end) open_.pop_back();
        if (event == Json::parse_event_t::key && !open_.back().insert(parsed.get<std::string>()).second)
            throw ScheduleError(fmt::format("{}: key \"{}\" is given twice in one object; keep one", source_,
                                            parsed.get<std::string>()));
        return true;
    }

  private:
    std::string_view source_;
    std::vector<std::set<std::string>> open_;
};

[[noreturn]] void fail_with_errno(const std::filesystem::path& path, std::string_view doing) {
    throw ScheduleError(fmt::format("{}: cannot {}: {}", path.string(), doing, std::strerror(errno)));
}

}  // namespace

Json parse_json(std::string_view text, std::string_view source) {
    DuplicateKeys duplicates(source);
    try {
        return Json::parse(
            text, [&](int, Json::parse_event_t event, Json& parsed) { return duplicates(event, parsed); });
    } catch (const Json::parse_error& error) {
        throw ScheduleError(fmt::format("{}:{}: not valid JSON ({}); correct the text there", source,
                                        line_and_column(text, error.byte), reason(error)));
    } catch (const Json::exception& error) {
        throw ScheduleError(fmt::format("{}: not usable JSON ({})", source, error.what()));
    }
}

std::string print_json(const Json& value) {
    try {
        return value.dump(4) + "\n";
    } catch (const Json::exception& error) {
        throw ScheduleError(fmt::format("cannot write JSON: a name is not valid UTF-8 ({})", error.what()));
    }
}

std::string read_text(const std::filesystem::path& path) {
    errno = 0;
    std::ifstream file(path, std::ios::binary);
    if (!file) fail_with_errno(path, "open for reading");
    std::ostringstream text;
    text << file.rdbuf();
    if (file.bad() || std::filesystem::is_directory(path)) fail_with_errno(path, "read");
    return std::move(text).str();
}

void write_text(const std::filesystem::path& path, const std::string& text) {
    errno = 0;
    std::ofstream file(path, std::ios::binary | std::ios::trunc);
    if (!file) fail_with_errno(path, "open for writing");
    file << text;
    file.close();
    if (!file) fail_with_errno(path, "write all of it");
}

void JsonPlace::fail(std::string_view what) const {
    throw ScheduleError(fmt::format("{}: {}", place_, what));
}

std::string JsonPlace::text() const {
    if (!value_->is_string()) fail(fmt::format("expected a text, found {}", shown(*value_)));
    return value_->get<std::string>();
}

bool JsonPlace::flag() const {
    if (!value_->is_boolean()) fail(fmt::format("expected true or false, found {}", shown(*value_)));
    return value_->get<bool>();
}

int JsonPlace::integer(int least, int most) const {
    const auto refuse = [&] {
        fail(fmt::format("expected a whole number from {} to {}, found {}", least, most, shown(*value_)));
    };
    if (!value_->is_number_integer()) refuse();
    // Unsigned values beyond 2^63 would turn negative in get<int64_t>.
    if (value_->is_number_unsigned() &&
        value_->get<std::uint64_t>() > static_cast<std::uint64_t>(std::max(most, 0)))
        refuse();
    const auto number = value_->get<std::int64_t>();
    if (number < least || number > most) refuse();
    return static_cast<int>(number);
}

double JsonPlace::number() const {
    if (!value_->is_number()) fail(fmt::format("expected a number, found {}", shown(*value_)));
    constexpr std::uint64_t kExact = std::uint64_t{1} << 53;
    if (value_->is_number_unsigned() && value_->get<std::uint64_t>() > kExact)
        fail(fmt::format("{} is beyond 2^53 and would be rounded; use a larger unit", shown(*value_)));
    return value_->get<double>();
}

std::vector<JsonPlace> JsonPlace::elements() const {
    if (!value_->is_array()) fail(fmt::format("expected a list, found {}", value_->type_name()));
    std::vector<JsonPlace> all;
    for (std::size_t i = 0; i < value_->size(); ++i)
        all.emplace_back((*value_)[i], fmt::format("{}[{}]", place_, i));
    return all;
}

JsonObject::JsonObject(JsonPlace place, std::initializer_list<std::string_view> keys)
    : place_(std::move(place)) {
    std::set<std::string> seen;
    for (const auto& [key, value] : members(place_)) {
        const auto known = std::ranges::find(keys, underscored(key), underscored);
        if (known == keys.end())
            place_.fail(fmt::format("unknown key \"{}\"; known are: {}", key, fmt::join(keys, ", ")));
        if (!seen.insert(underscored(key)).second)
            place_.fail(fmt::format("key \"{}\" is given in two spellings; keep one", key));
    }
}

JsonPlace JsonObject::at(std::string_view key) const {
    const std::string* found = spelled(key);
    if (!found) place_.fail(fmt::format("key \"{}\" is missing", key));
    return {place_.value().at(*found), fmt::format("{}.{}", place_.place(), *found)};
}

const std::string* JsonObject::spelled(std::string_view key) const {
    for (const auto& item : place_.value().get_ref<const Json::object_t&>())
        if (underscored(item.first) == underscored(key)) return &item.first;
    return nullptr;
}

std::vector<std::pair<std::string, JsonPlace>> members(const JsonPlace& object) {
    if (!object.value().is_object())
        object.fail(fmt::format("expected an object, found {}", object.value().type_name()));
    std::vector<std::pair<std::string, JsonPlace>> all;
    for (const auto& item : object.value().get_ref<const Json::object_t&>())
        all.emplace_back(item.first,
                         JsonPlace(item.second, fmt::format("{}.{}", object.place(), item.first)));
    return all;
}

}  // namespace tidemill::internal
