#include "tidemill/options/option.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tidemill/base/cli_error.hpp"

namespace tidemill::cli {

namespace {

constexpr double kAny = std::numeric_limits<double>::infinity();

const char* name_of(Kind kind) {
    switch (kind) {
        case Kind::flag:
            return "nothing";
        case Kind::whole:
            return "a whole number";
        case Kind::real:
            return "a number";
        case Kind::seconds:
            return "a time in seconds, or like 200ms or 2min,";
        case Kind::choice:
            return "one of";
        case Kind::text:
            return "a text";
        case Kind::input_file:
        case Kind::output_file:
            return "the name of a file";
        case Kind::input_place:
            return "the name of a file, or - for standard input";
        case Kind::output_place:
            return "the name of a file, or - for standard output";
    }
    return "";
}

std::string spaced(const std::string& text) {
    return text.empty() ? "" : " " + text;
}

}  // namespace

bool Range::holds(double number) const {
    return (least_itself ? number >= least : number > least) && number <= most;
}

std::string Range::text() const {
    if (most < kAny) return fmt::format("from {} to {}", least, most);
    if (least == -kAny) return {};
    return least_itself ? fmt::format("from {} on", least) : fmt::format("above {}", least);
}

Option& Option::in(Range wanted) {
    range = wanted;
    return *this;
}

Option& Option::is(Kind what) {
    kind = what;
    return *this;
}

Option& Option::required() {
    is_required = true;
    return *this;
}

Option& Option::networks(std::vector<std::string_view> these) {
    schemes = std::move(these);
    return *this;
}

Option& Option::called(std::string value) {
    value_name = std::move(value);
    return *this;
}

Option& Option::common() {
    is_common = true;
    return *this;
}

Option& Option::optional_value(std::string value) {
    alone = std::move(value);
    return *this;
}

Option& Option::or_auto() {
    takes_auto = true;
    return *this;
}

Option& Option::excludes(std::string other) {
    excluded.push_back(std::move(other));
    return *this;
}

Option& Option::needs(std::string other) {
    needed.push_back(std::move(other));
    return *this;
}

Option& Option::also_writes(std::function<std::vector<std::string>(const std::string&)> more) {
    more_places = std::move(more);
    return *this;
}

Option& Option::shows(std::string text) {
    default_text = std::move(text);
    return *this;
}

std::string Option::name() const {
    return names.substr(names.rfind(',') + 1);
}

std::string Option::allowed() const {
    const std::string number = range.text();
    return fmt::format("{}{}{}{}", name_of(kind), spaced(number),
                       spaced(fmt::to_string(fmt::join(choices, ", "))), takes_auto ? ", or auto" : "");
}

void Option::give(const std::string& text) {
    if (text.empty()) refuse(text);
    given.push_back(text);
}

void Option::read() const {
    for (const std::string& text : given) store_(*this, text);
}

bool Option::is_auto(const std::string& text) const {
    return takes_auto && text == "auto";
}

void Option::refuse(const std::string& text) const {
    throw WrongUsage(fmt::format("{} {}: give {}", name(), text.empty() ? "''" : text, allowed()));
}

std::string default_text(double value) {
    return fmt::format("{}", value);
}

std::string default_text(float value) {
    return fmt::format("{}", value);
}

std::string default_text(const std::string& value) {
    return value;
}

}  // namespace tidemill::cli
