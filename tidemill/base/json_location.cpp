#include "tidemill/base/json_location.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tidemill/base/json_error.hpp"

namespace tidemill {
namespace {

constexpr std::uint64_t kExact = std::uint64_t{1} << 53;

std::string underscored(std::string_view key) {
    std::string result(key);
    std::ranges::replace(result, '-', '_');
    return result;
}

// Only plain values are shown: an error is a line.
std::string shown(const Json& value) {
    if (value.get_if<Json::Array>() || value.get_if<Json::Object>()) return std::string(value.type_name());
    return to_text(value);
}

}  // namespace

void JsonLocation::fail(std::string_view what) const {
    throw JsonError(fmt::format("{}: {}", place_, what));
}

std::string JsonLocation::text() const {
    const auto* text = value_->get_if<std::string>();
    if (!text) fail(fmt::format("expected a text, found {}", shown(*value_)));
    return *text;
}

bool JsonLocation::flag() const {
    const auto* flag = value_->get_if<bool>();
    if (!flag) fail(fmt::format("expected true or false, found {}", shown(*value_)));
    return *flag;
}

int JsonLocation::integer(int least, int most) const {
    const auto* positive = value_->get_if<std::uint64_t>();
    const auto* negative = value_->get_if<std::int64_t>();
    if (positive && std::cmp_greater_equal(*positive, least) && std::cmp_less_equal(*positive, most))
        return static_cast<int>(*positive);
    if (negative && *negative >= least && *negative <= most) return static_cast<int>(*negative);
    fail(fmt::format("expected a whole number from {} to {}, found {}", least, most, shown(*value_)));
}

std::uint64_t JsonLocation::count() const {
    const auto* count = value_->get_if<std::uint64_t>();
    if (!count) fail(fmt::format("expected a whole number from 0 on, found {}", shown(*value_)));
    return *count;
}

double JsonLocation::number() const {
    if (const auto* real = value_->get_if<double>()) return *real;
    if (const auto* negative = value_->get_if<std::int64_t>()) return static_cast<double>(*negative);
    const auto* positive = value_->get_if<std::uint64_t>();
    if (!positive) fail(fmt::format("expected a number, found {}", shown(*value_)));
    if (*positive > kExact)
        fail(fmt::format("{} is beyond 2^53 and would be rounded; use a larger unit", shown(*value_)));
    return static_cast<double>(*positive);
}

std::vector<JsonLocation> JsonLocation::elements() const {
    const auto* elements = value_->get_if<Json::Array>();
    if (!elements) fail(fmt::format("expected a list, found {}", value_->type_name()));
    std::vector<JsonLocation> all;
    for (const Json& element : *elements)
        all.emplace_back(element, fmt::format("{}[{}]", place_, all.size()));
    return all;
}

const Json::Object& JsonLocation::object() const {
    const auto* members = value_->get_if<Json::Object>();
    if (!members) fail(fmt::format("expected an object, found {}", value_->type_name()));
    return *members;
}

JsonLocation JsonLocation::member(const Json::Member& member) const {
    return {member.second, fmt::format("{}.{}", place_, member.first)};
}

std::vector<std::pair<std::string, JsonLocation>> JsonLocation::members() const {
    std::vector<std::pair<std::string, JsonLocation>> all;
    for (const Json::Member& each : object()) all.emplace_back(each.first, member(each));
    return all;
}

std::optional<JsonLocation> JsonLocation::find(std::string_view name) const {
    const auto found = std::ranges::find(object(), name, &Json::Member::first);
    return found == object().end() ? std::nullopt : std::optional(member(*found));
}

JsonLocation JsonLocation::at(std::string_view name) const {
    const auto found = find(name);
    if (!found) fail(fmt::format("key \"{}\" is missing", name));
    return *found;
}

JsonObject::JsonObject(JsonLocation place, std::initializer_list<std::string_view> keys)
    : place_(std::move(place)) {
    std::vector<std::string> seen;
    for (const auto& [key, value] : place_.members()) {
        const auto known = std::ranges::find(keys, underscored(key), underscored);
        if (known == keys.end())
            place_.fail(fmt::format("unknown key \"{}\"; known are: {}", key, fmt::join(keys, ", ")));
        if (std::ranges::find(seen, underscored(key)) != seen.end())
            place_.fail(fmt::format("key \"{}\" is given in two spellings; keep one", key));
        seen.push_back(underscored(key));
    }
}

JsonLocation JsonObject::at(std::string_view key) const {
    const std::string* found = spelled(key);
    return place_.at(found ? *found : key);
}

const std::string* JsonObject::spelled(std::string_view key) const {
    for (const auto& [name, value] : *place_.value().get_if<Json::Object>())
        if (underscored(name) == underscored(key)) return &name;
    return nullptr;
}

}  // namespace tidemill
