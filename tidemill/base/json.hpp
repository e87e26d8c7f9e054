#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace tidemill {

/// A JSON value; objects keep the order of their members. Braces make objects: Json{{"name", "a"}, {"cores",
/// 4}}.
class Json {
  public:
    using Array = std::vector<Json>;
    using Member = std::pair<std::string, Json>;
    using Object = std::vector<Member>;

    // Code that moves or frees text and members lies in one place, so that files that make values stay quick
    // to compile.
    Json() noexcept;  // null
    Json(const Json&);
    Json(Json&&) noexcept;
    Json& operator=(const Json&);
    Json& operator=(Json&&) noexcept;
    ~Json();

    Json(std::same_as<bool> auto truth) : value_(truth) {}
    template <std::integral Number>
    requires(!std::same_as<Number, bool>) Json(Number number) {
        if (std::cmp_less(number, 0))
            value_ = static_cast<std::int64_t>(number);
        else
            value_ = static_cast<std::uint64_t>(number);
    }
    Json(std::floating_point auto number) : value_(static_cast<double>(number)) {}
    Json(const char* text);
    Json(std::string_view text);
    Json(std::string text);
    Json(Array elements);
    Json(Object members);
    Json(std::initializer_list<Member> members);

    /// null when there is none.
    template <typename Value>
    Json(const std::optional<Value>& value) : Json(value ? Json(*value) : Json()) {}

    template <typename Value>
    Json(const std::vector<Value>& values) : Json(Array(values.begin(), values.end())) {}

    static Json array();
    static Json object();

    /// Points to the value if it is of that type: bool, std::uint64_t, std::int64_t (below 0 only), double,
    /// std::string, Array or Object.
    template <typename Value>
    const Value* get_if() const {
        return std::get_if<Value>(&value_);
    }

    template <typename Value>
    Value* get_if() {
        return std::get_if<Value>(&value_);
    }

    /// Result of a function of the value, whatever its type.
    template <typename Function>
    decltype(auto) visit(Function function) const {
        return std::visit(function, value_);
    }

    /// The member of that name, or nothing, also where this is no object.
    const Json* find(std::string_view name) const;

    /// The member of that name, made if there is none; what was null becomes an object.
    Json& operator[](std::string_view name);

    /// Adds to an array; what was null becomes one.
    Json& push_back(Json element);

    /// Takes over the members of another object, before those of the same names that were there.
    void update(const Json& object);

    /// null, boolean, number, string, array or object.
    std::string_view type_name() const;

  private:
    std::variant<std::monostate, bool, std::uint64_t, std::int64_t, double, std::string, Array, Object>
        value_;
};

/// Bounds on what is read of anybody's text.
struct JsonLimits {
    static constexpr std::size_t kBytes = std::size_t{16} << 20;
    static constexpr std::size_t kDepth = 64;
    static constexpr std::size_t kValues = 1'000'000;
};

/// Parses a whole text; throws JsonError with source, line and column, also for names that are given twice in
/// an object and for texts beyond the limits.
Json parse_json(std::string_view text, std::string_view source);

/// As one line, or indented by so many spaces; bytes that are not UTF-8 are replaced.
std::string to_text(const Json& value, int indent = -1);

/// For a file that is read again: indented, with a newline at the end; throws JsonError where a text is not
/// UTF-8.
std::string to_file_text(const Json& value);

}  // namespace tidemill
