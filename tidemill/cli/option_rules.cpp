#include "tidemill/cli/option_rules.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace tidemill::cli {

namespace {

bool is_given(const Verb& verb, const std::string& name) {
    return std::ranges::any_of(verb.options(),
                               [&](const Option& each) { return each.name() == name && each.is_given(); });
}

void check_count(const Option& option) {
    if (option.is_required && !option.is_given())
        throw WrongUsage(fmt::format("{} is missing: give {}", option.name(), option.allowed()));
    if (option.given.size() > 1 && !option.is_repeatable && option.kind != Kind::flag)
        throw WrongUsage(fmt::format("{}: give it once", option.name()));
}

// A flag is given "true" where it stands alone.
void check_flag(const Option& option) {
    if (option.kind != Kind::flag) return;
    for (const std::string& text : option.given) {
        if (text != "true") throw WrongUsage(fmt::format("{} {}: it takes no value", option.name(), text));
    }
}

void check_file(const Option& option) {
    if (option.kind != Kind::output_file) return;
    for (const std::string& text : option.given) {
        if (is_standard_stream(text))
            throw WrongUsage(
                fmt::format("{} {}: it is written to a file; name one (./{} if that is its name)",
                            option.name(), text, text));
    }
}

void check_company(const Verb& verb, const Option& option) {
    if (!option.is_given()) return;
    for (const std::string& other : option.excluded) {
        if (is_given(verb, other))
            throw WrongUsage(fmt::format("{} and {} do not go together: give one", option.name(), other));
    }
    for (const std::string& other : option.needed) {
        if (!is_given(verb, other)) throw WrongUsage(fmt::format("{} needs {}", option.name(), other));
    }
}

}  // namespace

void check_rules(const Verb& verb) {
    for (const Option& option : verb.options()) {
        check_count(option);
        check_flag(option);
        check_file(option);
        check_company(verb, option);
    }
}

}  // namespace tidemill::cli
