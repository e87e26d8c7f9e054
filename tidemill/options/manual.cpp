#include "tidemill/options/manual.hpp"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <vector>

#include <fmt/format.h>

#include "tidemill/base/text_file.hpp"

namespace tidemill::cli {

namespace {

// A text as man(7) takes it: no line begins with its commands, no hyphen is broken.
std::string plain(const std::string& text) {
    std::string escaped;
    for (const char c : text) {
        if (c == '\\') escaped += "\\e";
        if (c == '-') escaped += "\\-";
        if ((c == '.' || c == '\'') && (escaped.empty() || escaped.back() == '\n')) escaped += "\\&";
        if (c != '\\' && c != '-') escaped += c;
    }
    return escaped;
}

std::string capitals(std::string text) {
    for (char& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    return text;
}

std::string manual_of(const Option& option) {
    const std::string value = option.kind == Kind::flag ? "" : fmt::format(": {}", option.allowed());
    const std::string preset =
        option.default_text.empty() ? "" : fmt::format(" (default: {})", option.default_text);
    return fmt::format(".TP\n.B {}\n{}\n", plain(option.names), plain(option.help + value + preset));
}

void describe(const Verb& verb, std::string& page) {
    if (!verb.alias().empty()) page += fmt::format(".PP\nIts other name is {}.\n", plain(verb.alias()));
    for (const Option& option : verb.options()) page += manual_of(option);
    if (!verb.footer().empty()) page += fmt::format(".PP\n.nf\n{}\n.fi\n", plain(verb.footer()));
}

std::string beginning_of(const std::string& name, const Verb& verb, const char* words) {
    return fmt::format(".TH {} 1\n.SH NAME\n{} \\- {}\n.SH SYNOPSIS\n.B {}\n{}\n", capitals(name),
                       plain(name), plain(verb.summary()), plain(verb.path()), words);
}

std::string end_of_page() {
    return fmt::format(
        ".SH EXIT STATUS\n.nf\n{}.fi\n"
        ".SH SIGNALS\nSIGINT, SIGTERM and SIGHUP end a running job in order, with whole packets and its "
        "report; "
        "a second one ends the program at once.\n",
        plain(kExitStatuses));
}

/// Verbs that do something, at any depth.
std::vector<const Verb*> verbs_of(const Verb& verb) {
    if (verb.verbs().empty()) return {&verb};
    std::vector<const Verb*> found;
    for (const Verb& below : verb.verbs())
        for (const Verb* each : verbs_of(below)) found.push_back(each);
    return found;
}

std::string page_of(const Verb& verb, const std::string& name) {
    std::string page = beginning_of(name, verb, "[options]") + ".SH OPTIONS\n";
    describe(verb, page);
    return page + end_of_page();
}

}  // namespace

std::string manual_of(Verb& program) {
    std::string page = beginning_of(program.name(), program, ".I verb\n[options]") + ".SH VERBS\n";
    for (const Verb* verb : verbs_of(program)) {
        page += fmt::format(".SS {}\n{}\n", plain(verb->path()), plain(verb->summary()));
        describe(*verb, page);
    }
    return page + end_of_page();
}

void write_manuals(Verb& program, const std::string& folder) {
    const std::filesystem::path into = folder;
    write_text(into / (program.name() + ".1"), manual_of(program));
    for (const Verb* verb : verbs_of(program)) {
        std::string name = verb->path();
        std::ranges::replace(name, ' ', '-');
        write_text(into / (name + ".1"), page_of(*verb, name));
    }
}

}  // namespace tidemill::cli
