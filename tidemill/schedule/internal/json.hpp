#pragma once

#include <filesystem>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace tidemill::internal {

using Json = nlohmann::ordered_json;

/// Parses a whole text; throws ScheduleError with source, line and column, also for keys that are given
/// twice.
Json parse_json(std::string_view text, std::string_view source);

/// Text of a value as people read it, with a newline at the end; throws ScheduleError where a name is not
/// UTF-8.
std::string print_json(const Json& value);

/// Whole file as text; throws ScheduleError naming the file and the reason.
std::string read_text(const std::filesystem::path& path);

/// Replaces a file; throws ScheduleError when not every byte got there.
void write_text(const std::filesystem::path& path, const std::string& text);

/// A value and its place in the file, so that every error can say where; borrows the value.
class JsonPlace {
  public:
    JsonPlace(const Json& value, std::string place) : value_(&value), place_(std::move(place)) {}

    const Json& value() const { return *value_; }
    const std::string& place() const { return place_; }

    /// Throws ScheduleError "<place>: <what>".
    [[noreturn]] void fail(std::string_view what) const;

    /// Throws ScheduleError unless the value is of the wanted type and range.
    std::string text() const;
    bool flag() const;
    int integer(int least, int most) const;
    double number() const;
    std::vector<JsonPlace> elements() const;

  private:
    const Json* value_;
    std::string place_;
};

/// An object with a fixed set of possible keys; hyphens and underscores in them are the same.
class JsonObject {
  public:
    /// Throws ScheduleError unless the value is an object with no other key than those, each at most once.
    JsonObject(JsonPlace place, std::initializer_list<std::string_view> keys);

    bool has(std::string_view key) const { return spelled(key) != nullptr; }

    /// The value of a key; throws ScheduleError when it is missing.
    JsonPlace at(std::string_view key) const;

  private:
    const std::string* spelled(std::string_view key) const;

    JsonPlace place_;
};

/// The values of an object with free keys, in file order.
std::vector<std::pair<std::string, JsonPlace>> members(const JsonPlace& object);

}  // namespace tidemill::internal
