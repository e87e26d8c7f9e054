#include "tidemill/options/manual.hpp"

#include <cctype>

#include <fmt/format.h>

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

void describe(Verb& verb, std::string& page) {
    for (Verb& below : verb.verbs()) describe(below, page);
    if (!verb.verbs().empty()) return;
    page += fmt::format(".SS {}\n{}\n", plain(verb.path()), plain(verb.summary()));
    if (!verb.alias().empty()) page += fmt::format(".PP\nIts other name is {}.\n", plain(verb.alias()));
    for (const Option& option : verb.options()) page += manual_of(option);
    if (!verb.footer().empty()) page += fmt::format(".PP\n.nf\n{}\n.fi\n", plain(verb.footer()));
}

}  // namespace

std::string manual_of(Verb& program) {
    std::string page =
        fmt::format(".TH {} 1\n.SH NAME\n{} \\- {}\n.SH SYNOPSIS\n.B {}\n.I verb\n[options]\n",
                    capitals(program.name()), program.name(), plain(program.summary()), program.name());
    page += ".SH VERBS\n";
    describe(program, page);
    page += fmt::format(".SH EXIT STATUS\n.nf\n{}.fi\n", plain(kExitStatuses));
    page +=
        ".SH SIGNALS\nSIGINT, SIGTERM and SIGHUP end a running job in order, with whole packets and its "
        "report; "
        "a second one ends the program at once.\n";
    return page;
}

}  // namespace tidemill::cli
