#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tidemill/base/json.hpp"

namespace tidemill {

/// A value and its place in the file, so that every error can say where; borrows the value.
class JsonLocation {
  public:
    JsonLocation(const Json& value, std::string place) : value_(&value), place_(std::move(place)) {}

    const Json& value() const { return *value_; }

    /// Throws JsonError "<place>: <what>".
    [[noreturn]] void fail(std::string_view what) const;

    /// Throw JsonError unless the value is of the wanted type and range.
    std::string text() const;
    bool flag() const;
    int integer(int least, int most) const;
    std::uint64_t count() const;
    double number() const;
    std::vector<JsonLocation> elements() const;

    /// The members of an object with free names, in file order; throws JsonError where it is none.
    std::vector<std::pair<std::string, JsonLocation>> members() const;

    /// The member of that name, if there is one; throws JsonError where this is no object.
    std::optional<JsonLocation> find(std::string_view name) const;

    /// The same, but throws JsonError when it is missing.
    JsonLocation at(std::string_view name) const;

  private:
    const Json::Object& object() const;
    JsonLocation member(const Json::Member& member) const;

    const Json* value_;
    std::string place_;
};

/// An object with a fixed set of possible keys; hyphens and underscores in them are the same.
class JsonObject {
  public:
    /// Throws JsonError unless the value is an object with no other key than those, each at most once.
    JsonObject(JsonLocation place, std::initializer_list<std::string_view> keys);

    bool has(std::string_view key) const { return spelled(key) != nullptr; }

    /// The value of a key; throws JsonError when it is missing.
    JsonLocation at(std::string_view key) const;

  private:
    const std::string* spelled(std::string_view key) const;

    JsonLocation place_;
};

}  // namespace tidemill
