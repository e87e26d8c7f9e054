#include "tidemill/base/json.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tidemill/base/json_error.hpp"

namespace tidemill {
namespace {

using Library = nlohmann::ordered_json;

std::string line_and_column(std::string_view text, std::size_t byte) {
    const std::string_view before = text.substr(0, std::min(byte > 0 ? byte - 1 : 0, text.size()));
    const auto line = 1 + std::ranges::count(before, '\n');
    const auto line_begin = before.rfind('\n');
    const auto column = 1 + before.size() - (line_begin == std::string_view::npos ? 0 : line_begin + 1);
    return fmt::format("{}:{}", line, column);
}

// The library's message without its own names and its own idea of the position.
std::string_view reason(const Library::exception& error) {
    const std::string_view message = error.what();
    const std::size_t name_end = message.find("] ");
    const std::size_t place_end = message.find(": ");
    const std::size_t begin = place_end != std::string_view::npos ? place_end : name_end;
    return begin == std::string_view::npos ? message : message.substr(begin + 2);
}

/// Handler of the parser's events; builds a value within the limits. The open ones stay where they are, since
/// a value only grows at its end, when nothing in it is open.
class Builder {
  public:
    Builder(std::string_view text, std::string_view source) : text_(text), source_(source) {}

    Json take() { return std::move(root_); }

    bool null() { return add(Json()); }
    bool boolean(bool value) { return add(value); }
    bool number_integer(std::int64_t value) { return add(value); }
    bool number_unsigned(std::uint64_t value) { return add(value); }
    bool number_float(double value, const std::string& /*text*/) { return add(value); }
    bool string(std::string& value) { return add(std::move(value)); }
    bool binary(Library::binary_t& /*value*/) { return false; }

    bool start_array(std::size_t /*size*/) { return open(Json::array()); }
    bool start_object(std::size_t /*size*/) { return open(Json::object()); }
    bool key(std::string& name) {
        open_.back()->get_if<Json::Object>()->emplace_back(std::move(name), Json());
        return true;
    }
    bool end_array() { return close(); }
    bool end_object() {
        refuse_equal_names(*open_.back()->get_if<Json::Object>());
        return close();
    }

    bool parse_error(std::size_t byte, const std::string& /*token*/, const Library::exception& error) {
        throw JsonError(fmt::format("{}:{}: not valid JSON ({}); correct the text there", source_,
                                    line_and_column(text_, byte), reason(error)));
    }

  private:
    bool add(Json value) {
        place(std::move(value));
        return true;
    }

    bool open(Json empty) {
        if (open_.size() == JsonLimits::kDepth)
            throw JsonError(fmt::format("{}: nested more than {} deep", source_, JsonLimits::kDepth));
        open_.push_back(&place(std::move(empty)));
        return true;
    }

    bool close() {
        open_.pop_back();
        return true;
    }

    Json& place(Json value) {
        if (++values_ > JsonLimits::kValues)
            throw JsonError(fmt::format("{}: more than {} values", source_, JsonLimits::kValues));
        if (open_.empty()) return root_ = std::move(value);
        if (Json::Object* members = open_.back()->get_if<Json::Object>())
            return members->back().second = std::move(value);
        return open_.back()->push_back(std::move(value));
    }

    void refuse_equal_names(const Json::Object& members) const {
        std::vector<std::string_view> names;
        for (const auto& [name, value] : members) names.push_back(name);
        std::ranges::sort(names);
        const auto twice = std::ranges::adjacent_find(names);
        if (twice != names.end())
            throw JsonError(
                fmt::format("{}: key \"{}\" is given twice in one object; keep one", source_, *twice));
    }

    std::string_view text_;
    std::string_view source_;
    Json root_;
    std::vector<Json*> open_;
    std::size_t values_ = 0;
};

/// Turns a value into the library's, which knows how to print it.
struct ToLibrary {
    Library operator()(std::monostate) const { return {}; }
    Library operator()(const auto& plain) const { return plain; }
    Library operator()(const Json::Array& elements) const {
        Library all = Library::array();
        for (const Json& element : elements) all.push_back(convert(element));
        return all;
    }
    // Past the library's own insertion, which looks through all names before.
    Library operator()(const Json::Object& members) const {
        Library::object_t all;
        for (const auto& [name, value] : members)
            static_cast<Library::object_t::Container&>(all).emplace_back(name, convert(value));
        return all;
    }
    static Library convert(const Json& value) { return value.visit(ToLibrary()); }
};

}  // namespace

Json::Json() noexcept = default;
// The library's own copy of a variant of texts and vectors destroys what it never made when memory ends on
// the way (GCC 12).
Json::Json(const Json& other) {
    other.visit([this](const auto& value) {
        auto copy = value;
        value_ = std::move(copy);
    });
}
Json::Json(Json&&) noexcept = default;
Json& Json::operator=(const Json& other) {
    return *this = Json(other);
}
Json& Json::operator=(Json&&) noexcept = default;
Json::~Json() = default;

Json::Json(const char* text) : value_(std::string(text)) {}
Json::Json(std::string_view text) : value_(std::string(text)) {}
Json::Json(std::string text) : value_(std::move(text)) {}
Json::Json(Array elements) : value_(std::move(elements)) {}
Json::Json(Object members) : value_(std::move(members)) {}
Json::Json(std::initializer_list<Member> members) : value_(Object(members)) {}

Json Json::array() {
    return Array();
}

Json Json::object() {
    return Object();
}

const Json* Json::find(std::string_view name) const {
    const Object* members = get_if<Object>();
    if (!members) return nullptr;
    const auto found = std::ranges::find(*members, name, &Member::first);
    return found == members->end() ? nullptr : &found->second;
}

Json& Json::operator[](std::string_view name) {
    if (std::holds_alternative<std::monostate>(value_)) value_ = Object();
    auto& members = std::get<Object>(value_);
    const auto found = std::ranges::find(members, name, &Member::first);
    if (found != members.end()) return found->second;
    return members.emplace_back(name, Json()).second;
}

Json& Json::push_back(Json element) {
    if (std::holds_alternative<std::monostate>(value_)) value_ = Array();
    return std::get<Array>(value_).emplace_back(std::move(element));
}

void Json::update(const Json& object) {
    for (const auto& [name, value] : std::get<Object>(object.value_)) (*this)[name] = value;
}

std::string_view Json::type_name() const {
    constexpr std::array<std::string_view, 8> kNames{"null",   "boolean", "number", "number",
                                                     "number", "string",  "array",  "object"};
    return kNames.at(value_.index());
}

Json parse_json(std::string_view text, std::string_view source) {
    if (text.size() > JsonLimits::kBytes)
        throw JsonError(fmt::format("{}: longer than {} MiB", source, JsonLimits::kBytes >> 20));
    Builder builder(text, source);
    Library::sax_parse(text, &builder);
    return builder.take();
}

std::string to_text(const Json& value, int indent) {
    return ToLibrary::convert(value).dump(indent, ' ', false, Library::error_handler_t::replace);
}

std::string to_file_text(const Json& value) {
    try {
        return ToLibrary::convert(value).dump(4) + "\n";
    } catch (const Library::exception& error) {
        throw JsonError(fmt::format("cannot write JSON: a name is not valid UTF-8 ({})", reason(error)));
    }
}

}  // namespace tidemill
