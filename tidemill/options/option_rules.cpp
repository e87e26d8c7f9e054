#include "tidemill/options/option_rules.hpp"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

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

// "http" of "http://a", and "tun" of "tun:a"; empty where a text is no such address.
std::string_view scheme_of(std::string_view text) {
    if (text.starts_with("tun:")) return text.substr(0, 3);
    constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyz0123456789+.-";
    const std::string_view scheme = text.substr(0, text.find_first_not_of(kLetters));
    return text.substr(scheme.size()).starts_with("://") ? scheme : std::string_view();
}

void check_scheme(const Option& option) {
    if (!option.is_output()) return;
    for (const std::string& text : option.given) {
        const std::string_view scheme = scheme_of(text);
        const bool is_known = std::ranges::find(option.schemes, scheme) != option.schemes.end();
        if (scheme.empty() || is_known) continue;
        const std::string others =
            option.schemes.empty() ? "" : fmt::format(", or {}:", fmt::join(option.schemes, ":, "));
        throw WrongUsage(
            fmt::format("{} {}: it does not write to {}:; name a file (./{} if that is its name){}",
                        option.name(), text, scheme, text, others));
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
        check_scheme(option);
        check_company(verb, option);
    }
}

}  // namespace tidemill::cli
