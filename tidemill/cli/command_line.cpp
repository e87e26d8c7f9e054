#include "tidemill/cli/command_line.hpp"

#include <cstdio>
#include <ranges>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tidemill/cli/places.hpp"
#include "tidemill/cli/standard_streams.hpp"
#include "tidemill/io/io_error.hpp"
#include "tidemill/platform/platform_error.hpp"
#include "tidemill/policy/policy_error.hpp"
#include "tidemill/run/frame_error.hpp"
#include "tidemill/run/run_error.hpp"
#include "tidemill/schedule/schedule_error.hpp"

namespace tidemill::cli {

namespace {

constexpr const char* kStatuses = "Exit status: 0 done, 1 the job failed, 2 wrong usage, 3 unusable input.";

std::string value_name(const Option& option) {
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
            return "PLACE";
    }
    return "";
}

std::string help_of(const Option& option) {
    std::vector<std::string> more;
    if (const std::string range = option.range.text(); !range.empty()) more.push_back(range);
    if (!option.default_text.empty()) more.push_back("default: " + option.default_text);
    if (more.empty()) return option.help;
    return fmt::format("{} ({})", option.help, fmt::join(more, "; "));
}

CLI::Option& declare(const Option& option, CLI::App& app) {
    if (option.kind == Kind::flag) {
        return *app.add_flag(option.names)->description(help_of(option))->disable_flag_override();
    }
    const auto keep = [](const CLI::results_t&) { return true; };
    CLI::Option& word = *app.add_option(option.names, keep, help_of(option));
    word.type_name(value_name(option))->required(option.is_required);
    if (option.is_repeatable) word.multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    return word;
}

/// The declared verbs and options as CLI11 knows them. It takes a command line apart and writes the help;
/// what the words mean, each option knows itself.
class Words {
  public:
    Words(Verb& program, const std::string& version) : program_(program) {
        app_.name(program.name());
        // What the program itself takes may stand before or after the verb.
        app_.fallthrough(!program.options().empty());
        declare_all(program, app_);
        if (!version.empty()) app_.set_version_flag("--version", version);
    }

    /// Takes the words apart and gives each option its own; returns the verb that they name, or none where
    /// help was asked for, and printed.
    const Verb* read(int argc, const char* const* argv) {
        try {
            app_.parse(reversed(argc, argv));
        } catch (const CLI::Success& asked) {
            app_.exit(asked);
            return nullptr;
        } catch (const CLI::ParseError& error) {
            throw WrongUsage(fmt::format("{} (see --help)", error.what()));
        }
        for (auto& [option, word] : options_) {
            if (option->kind == Kind::flag && word->count() > 0) option->give("true");
            if (option->kind == Kind::flag) continue;
            for (const std::string& text : word->results()) option->give(text);
        }
        check_all_places();
        for (auto& [option, word] : options_) option->read();
        return &chosen(program_, app_);
    }

  private:
    void check_all_places() const {
        std::vector<const Option*> all;
        for (const auto& [option, word] : options_) all.push_back(option);
        check_places(all);
    }

    void declare_all(Verb& verb, CLI::App& app) {
        app.description(verb.summary());
        app.footer(verb.footer() + "\n" + kStatuses);
        app.allow_extras(verb.others() != nullptr);
        if (!verb.verbs().empty()) app.require_subcommand(1);
        for (Option& option : verb.options()) {
            CLI::Option& word = declare(option, app);
            word.group(option.heading);
            options_.emplace_back(&option, &word);
        }
        for (Option& option : verb.options()) {
            CLI::Option& word = *app.get_option(option.name());
            for (const std::string& other : option.excluded) word.excludes(app.get_option(other));
            for (const std::string& other : option.needed) word.needs(app.get_option(other));
        }
        for (Verb& below : verb.verbs()) declare_all(below, *app.add_subcommand(below.name()));
    }

    // CLI11 takes the last word first, and "--name=" for an option without a value.
    static std::vector<std::string> reversed(int argc, const char* const* argv) {
        std::vector<std::string> words;
        for (int i = 1; i < argc; ++i) {
            std::string word = argv[i];
            const bool empty_value = word.starts_with("--") && word.find('=') == word.size() - 1;
            if (empty_value) word.pop_back();
            words.push_back(std::move(word));
            if (empty_value) words.emplace_back();
        }
        std::ranges::reverse(words);
        return words;
    }

    static const Verb& chosen(Verb& verb, CLI::App& app) {
        if (verb.others() != nullptr) *verb.others() = app.remaining();
        for (Verb& below : verb.verbs()) {
            CLI::App* const app_below = app.get_subcommand(below.name());
            if (app_below->parsed()) return chosen(below, *app_below);
        }
        return verb;
    }

    Verb& program_;
    CLI::App app_;
    std::vector<std::pair<Option*, CLI::Option*>> options_;
};

ExitStatus status_of(const std::exception& error) {
    if (dynamic_cast<const FrameError*>(&error) != nullptr) return kJobFailed;  // a task's, while it ran
    const auto is = [&]<class... Kinds>() { return (dynamic_cast<const Kinds*>(&error) || ...); };
    if (is.operator()<WrongUsage, RunError, PlatformError, policy::PolicyError>()) return kWrongUsage;
    if (is.operator()<io::IoError, ScheduleError>()) return kUnusableInput;
    return kJobFailed;
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

int run_command_line(Verb& program, int argc, const char* const* argv, const std::string& version) {
    secure_standard_streams();
    try {
        const Verb* const chosen = Words(program, version).read(argc, argv);
        const int status = chosen ? chosen->act() : kDone;
        flush_results();
        return status;
    } catch (const std::exception& error) {
        tell("{}: {}\n", program.name(), error.what());
        return status_of(error);
    }
}

}  // namespace tidemill::cli
