#include "tidemill/options/command_line.hpp"

#include <algorithm>
#include <cstdio>
#include <exception>
#include <new>
#include <ranges>

#include <CLI/CLI.hpp>
#include <cxxabi.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tidemill/base/plain_text.hpp"
#include "tidemill/options/completion.hpp"
#include "tidemill/options/manual.hpp"
#include "tidemill/options/option_rules.hpp"
#include "tidemill/options/option_slip.hpp"
#include "tidemill/options/places.hpp"
#include "tidemill/options/standard_streams.hpp"
#include "tidemill/runtime/graph/graph_error.hpp"

namespace tidemill::cli {

namespace {

constexpr const char* kStatuses =
    "Exit status: 0 done, 1 the job failed, 2 wrong usage, 3 unusable input, 4 ended as --exit-on said.";

std::string value_name(const Option& option) {
    if (!option.value_name.empty()) return option.value_name;
    switch (option.kind) {
        case Kind::flag:
            return "";
        case Kind::whole:
            return "N";
        case Kind::real:
            return "NUMBER";
        case Kind::seconds:
            return "SECONDS";
        case Kind::choice:
            return fmt::format("{{{}}}", fmt::join(option.choices, ","));
        case Kind::text:
            return "TEXT";
        case Kind::input_file:
        case Kind::output_file:
            return "FILE";
        case Kind::input_place:
        case Kind::output_place:
            return "FILE|URL";
    }
    return "";
}

std::string help_of(const Option& option) {
    std::vector<std::string> more;
    if (option.is_required) more.emplace_back("required");
    if (option.is_repeatable) more.emplace_back("may be repeated");
    for (const std::string& other : option.excluded) more.push_back("not with " + other);
    for (const std::string& other : option.needed) more.push_back("with " + other);
    if (const std::string range = option.range.text(); !range.empty()) more.push_back(range);
    if (!option.default_text.empty()) more.push_back("default: " + option.default_text);
    if (more.empty()) return option.help;
    return fmt::format("{} ({})", option.help, fmt::join(more, "; "));
}

CLI::Option& declare(const Option& option, CLI::App& app) {
    if (option.kind == Kind::flag) return *app.add_flag(option.names)->description(help_of(option));
    CLI::Option& word = *app.add_option(option.names)->description(help_of(option));
    word.type_name(value_name(option))->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    return word;
}

std::vector<std::string> names_of_verbs(const Verb& verb) {
    std::vector<std::string> names;
    for (const Verb& below : verb.verbs()) names.push_back(below.name());
    return names;
}

std::vector<std::string> long_names_of_options(const CLI::App& app) {
    std::vector<std::string> names;
    for (const CLI::Option* const option : app.get_options())
        for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    return names;
}

[[noreturn]] void refuse_word(const Verb& verb, const CLI::App& app, const std::string& word) {
    const bool is_option = word.starts_with('-');
    if (!is_option && verb.verbs().empty())
        throw WrongUsage(fmt::format("{}: one word too many (see {} --help)", word, verb.path()));
    const auto names = is_option ? long_names_of_options(app) : names_of_verbs(verb);
    throw WrongUsage(fmt::format("{}: there is no such {} (see {} --help){}", word,
                                 is_option ? "option" : "verb", verb.path(), meant_instead(word, names)));
}

[[noreturn]] void refuse_missing_verb(const Verb& verb) {
    throw WrongUsage(
        fmt::format("give a verb: {} (see {} --help)", fmt::join(names_of_verbs(verb), ", "), verb.path()));
}

/// The declared verbs and options as CLI11 knows them. It takes a command line apart and writes the help;
/// what the words mean, each option knows itself, and what goes together, check_rules().
class Words {
  public:
    Words(Verb& program, const std::string& version, bool is_short) : program_(program), is_short_(is_short) {
        app_.name(program.name());
        // Options of the program itself may stand before or after the verb.
        app_.fallthrough(!program.options().empty());
        declare_all(program, app_);
        if (!version.empty()) app_.set_version_flag("--version", version);
        app_.footer(
            fmt::format("{}\nThe whole manual: {} --manual | man -l -", app_.get_footer(), program.name()));
    }

    /// Takes the words apart and gives each option its own; returns the verb that they name, or none where
    /// help was asked for, and printed.
    const Verb* read(int argc, const char* const* argv) {
        try {
            app_.parse(reversed(keep_command(argc, argv), argv));
        } catch (const CLI::Success& asked) {
            app_.exit(asked);
            return nullptr;
        } catch (const CLI::ParseError& error) {
            refuse(error.what());
        }
        Verb& verb = chosen(program_, app_);
        for (const Declared& each : options_) {
            each.option->given.clear();
            for (const std::string& text : each.word->results()) each.option->give(text);
        }
        check_rules(program_);
        check_rules(verb);
        check_all_places();
        for (const Declared& each : options_) each.option->read();
        return &verb;
    }

  private:
    struct Declared {
        Option* option;
        CLI::Option* word;
        CLI::App* verb;
    };

    void check_all_places() const {
        std::vector<const Option*> all;
        for (const Declared& each : options_) all.push_back(each.option);
        check_places(all);
    }

    void declare_all(Verb& verb, CLI::App& app) {
        if (!verb.alias().empty()) app.alias(verb.alias());
        app.description(verb.summary());
        app.footer(footer_of(verb));
        app.allow_extras();  // chosen() refuses them
        for (Option& option : verb.options()) {
            CLI::Option& word = declare(option, app);
            word.group(is_hidden(verb, option) ? "" : option.heading);
            options_.push_back({&option, &word, &app});
        }
        if (!verb.verbs().empty()) app.require_subcommand(0, 1);  // what follows is no verb of its parent's
        for (Verb& below : verb.verbs()) declare_all(below, *app.add_subcommand(below.name()));
    }

    // The help asked for by -h has the options that most people need.
    bool is_hidden(const Verb& verb, const Option& option) const {
        return is_short_ && has_common(verb) && !option.is_common && !option.is_positional();
    }

    static bool has_common(const Verb& verb) {
        constexpr std::size_t kFewEnough = 25;
        return verb.options().size() > kFewEnough && std::ranges::any_of(verb.options(), &Option::is_common);
    }

    std::string footer_of(const Verb& verb) const {
        const std::string more =
            is_short_ && has_common(verb) ? fmt::format("\nAll options: {} --help", verb.path()) : "";
        return verb.footer() + more + "\n" + kStatuses;
    }

    // Finds the verb. Where it runs a command, that is not for CLI11 to read; returns how many words are.
    int keep_command(int argc, const char* const* argv) {
        verb_ = &program_;
        for (int i = 1; i < argc; ++i) {
            const std::string_view word = argv[i];
            if (word == "--" && verb_->command() != nullptr) {
                verb_->command()->assign(argv + i + 1, argv + argc);
                return i;
            }
            const auto below = std::ranges::find(verb_->verbs(), word, &Verb::name);
            if (below != verb_->verbs().end()) verb_ = &*below;
        }
        return argc;
    }

    // CLI11 takes the last word first, "--name=" for an option without a value, and "-o=x" for the value
    // "=x".
    std::vector<std::string> reversed(int argc, const char* const* argv) const {
        std::vector<std::string> words;
        for (int i = 1; i < argc; ++i) {
            std::string word = argv[i];
            const std::size_t equals = word.find('=');
            if (word.starts_with('-') && equals == 2)
                throw WrongUsage(fmt::format("{}: leave the = out", word));
            const bool empty_value = word.starts_with("--") && equals == word.size() - 1;
            if (empty_value) word.pop_back();
            const Option* const option = named(word);
            if (empty_value && option && option->kind == Kind::flag)
                throw WrongUsage(word + ": it takes no value");
            words.push_back(std::move(word));
            const bool is_alone = i + 1 == argc || std::string_view(argv[i + 1]).starts_with('-');
            if (empty_value)
                words.emplace_back();
            else if (option && is_alone && !option->alone.empty())
                words.push_back(option->alone);
        }
        std::ranges::reverse(words);
        return words;
    }

    const Option* named(const std::string& word) const {
        for (const Verb* const verb : {verb_, &program_})
            for (const Option& option : verb->options())
                if (option.name() == word) return &option;
        return nullptr;
    }

    // The one thing that CLI11 still finds itself: an option at the end whose value is missing.
    [[noreturn]] void refuse(const std::string& said) const {
        for (const Declared& each : options_) {
            if (each.verb->parsed() && said.starts_with(each.word->get_name() + ":")) each.option->refuse("");
        }
        throw WrongUsage(said + " (see --help)");
    }

    static Verb& chosen(Verb& verb, CLI::App& app) {
        std::vector<std::string> others = app.remaining();
        if (verb.others() != nullptr) {
            *verb.others() = others;
        } else {
            if (const auto end = std::ranges::find(others, "--"); end != others.end()) others.erase(end);
            if (!others.empty()) refuse_word(verb, app, others.front());
        }
        for (Verb& below : verb.verbs()) {
            CLI::App* const app_below = app.get_subcommand(below.name());
            if (app_below->parsed()) return chosen(below, *app_below);
        }
        if (!verb.verbs().empty()) refuse_missing_verb(verb);
        return verb;
    }

    Verb& program_;
    bool is_short_;
    Verb* verb_ = nullptr;  // that is named
    CLI::App app_;
    std::vector<Declared> options_;
};

ExitStatus status_of(const std::exception& error) {
    const auto* const own = dynamic_cast<const Error*>(&error);
    return own ? static_cast<ExitStatus>(own->fault()) : kJobFailed;
}

}  // namespace

Verb& Verb::verb(const std::string& name, std::string summary) {
    return verbs_.emplace_back(path_ + " " + name, std::move(summary));
}

Option& Verb::choice(std::string names, std::string& variable, const std::vector<std::string>& words,
                     std::string help) {
    std::vector<std::pair<std::string, std::string>> values;
    for (const std::string& word : words) values.emplace_back(word, word);
    return choice(std::move(names), variable, values, std::move(help));
}

Option& Verb::flag(std::string names, bool& variable, std::string help, bool value) {
    return add(std::move(names), std::move(help), Kind::flag,
               [&variable, value](const Option&, const std::string&) { variable = value; });
}

Option& Verb::add(std::string names, std::string help, Kind kind, Option::Store store) {
    return options_.emplace_back(std::move(names), std::move(help), heading_, kind, std::move(store));
}

namespace {

bool asks_short_help(int argc, const char* const* argv) {
    return std::any_of(argv, argv + argc, [](std::string_view word) { return word == "-h"; });
}

int run(Verb& program, int argc, const char* const* argv, const std::string& version) {
    if (argc == 2 && std::string_view(argv[1]) == "--manual") {
        print(manual_of(program));
        return kDone;
    }
    if (argc == 3 && std::string_view(argv[1]) == "--manuals") return write_manuals(program, argv[2]), kDone;
    if (argc >= 2 && std::string_view(argv[1]) == "--complete") {
        print(completions(program, std::vector<std::string>(argv + 2, argv + argc)));
        return kDone;
    }
    const Verb* const chosen = Words(program, version, asks_short_help(argc, argv)).read(argc, argv);
    return chosen ? chosen->act() : kDone;
}

std::string shortened(std::string_view text, std::size_t begin, std::size_t end) {
    if (text.size() <= begin + end) return std::string(text);
    return fmt::format("{} ... {}", text.substr(0, begin), text.substr(text.size() - end));
}

// A name of thousands of letters must not hide what is said about it, nor be all that is read.
std::string with_short_names(std::string_view message) {
    std::string text;
    while (!message.empty()) {
        const std::size_t space = std::min(message.find_first_of(" \n"), message.size());
        text += shortened(message.substr(0, space), 150, 50);
        text += message.substr(space, 1);
        message.remove_prefix(std::min(space + 1, message.size()));
    }
    return shortened(text, 700, 200);
}

// A graph's faults stand in lines of their own; else names from outside begin none.
std::string sentence_of(const std::exception& error) {
    const bool is_list = dynamic_cast<const GraphError*>(&error) != nullptr;
    const std::string message = with_short_names(message_of(error));
    return is_list ? message : plain_line(message);
}

}  // namespace

int run_command_line(Verb& program, int argc, const char* const* argv, const std::string& version) {
    secure_standard_streams();
    try {
        const int status = run(program, argc, argv, version);
        flush_results();
        return status;
    } catch (const std::bad_alloc&) {
        tell("{}: there is not enough memory for this\n", program.name());
        return kJobFailed;
    } catch (const std::exception& error) {
        tell("{}: {}\n", program.name(), sentence_of(error));
        return status_of(error);
    } catch (const abi::__forced_unwind&) {
        throw;
    } catch (...) {  // of a program's own function
        tell("{}: {}\n", program.name(), message_of(std::current_exception()));
        return kJobFailed;
    }
}

}  // namespace tidemill::cli
