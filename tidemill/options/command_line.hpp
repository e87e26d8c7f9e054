#pragma once

#include <concepts>
#include <deque>
#include <functional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "tidemill/base/cli_error.hpp"
#include "tidemill/options/option.hpp"

namespace tidemill::cli {

/// A verb of a program, or the program itself: its options and the verbs below it, as data that can be
/// listed, and what it does.
class Verb {
  public:
    Verb(std::string path, std::string summary) : path_(std::move(path)), summary_(std::move(summary)) {}
    Verb(const Verb&) = delete;
    Verb& operator=(const Verb&) = delete;

    /// Adds a verb below this one.
    Verb& verb(const std::string& name, std::string summary);

    /// Another name for this verb, which the help shows.
    void alias(std::string name) { alias_ = std::move(name); }

    /// Sets the end of the help: a line of examples or more.
    void footer(std::string text) { footer_ = std::move(text); }

    /// Sets the action of this verb, which runs once its options are read and returns an exit status.
    void does(std::function<int()> act) { act_ = std::move(act); }

    /// Options that are added from now on stand under this heading in the help.
    void heading(std::string text) { heading_ = std::move(text); }

    /// Words that belong to no option are kept here instead of refused.
    void keep_others(std::vector<std::string>& others) { others_ = &others; }

    /// Words behind "--" are kept here: a command that this verb runs, with options of its own.
    void command(std::vector<std::string>& words) { command_ = &words; }

    /// An option that sets a variable, which must live as long as the verb. Names are like "-o,--output", or
    /// without a dash for an option that is known by its place.
    template <class T>
    Option& option(std::string names, T& variable, std::string help) {
        Option& added = add(std::move(names), std::move(help), ValueText<T>::kKind,
                            [&variable](const Option& option, const std::string& text) {
                                variable = ValueText<T>::read(option, text);
                            });
        added.default_text = default_text(variable);
        added.takes_auto = kTakesAuto<T>;
        return added;
    }

    /// An option that may be repeated.
    template <class T>
    Option& option(std::string names, std::vector<T>& variable, std::string help) {
        Option& added = add(std::move(names), std::move(help), ValueText<T>::kKind,
                            [&variable](const Option& option, const std::string& text) {
                                variable.push_back(ValueText<T>::read(option, text));
                            });
        added.is_repeatable = true;
        return added;
    }

    /// An option whose value `parse` makes of its text. What that throws becomes wrong usage of the option.
    template <class T, class Parse>
    Option& parsed(std::string names, T& variable, Parse parse, std::string help) {
        return add(std::move(names), std::move(help), Kind::text,
                   [&variable, parse](const Option& option, const std::string& text) {
                       variable = parsed_by(parse, option, text);
                   });
    }

    /// The same for an option that may be repeated, where `parse` makes one element.
    template <class T, class Parse>
    requires(std::convertible_to<std::invoke_result_t<Parse, const std::string&>, T>) Option& parsed(
        std::string names, std::vector<T>& variable, Parse parse, std::string help) {
        Option& added = add(std::move(names), std::move(help), Kind::text,
                            [&variable, parse](const Option& option, const std::string& text) {
                                variable.push_back(parsed_by(parse, option, text));
                            });
        added.is_repeatable = true;
        return added;
    }

    /// The same for one that takes auto, too.
    template <class T, class Parse>
    requires(std::convertible_to<std::invoke_result_t<Parse, const std::string&>, T>) Option& parsed(
        std::string names, OrAuto<T>& variable, Parse parse, std::string help) {
        Option& added = add(std::move(names), std::move(help), Kind::text,
                            [&variable, parse](const Option& option, const std::string& text) {
                                variable = {};
                                if (!option.is_auto(text)) variable.value = parsed_by(parse, option, text);
                            });
        added.takes_auto = true;
        return added;
    }

    /// An option that names a file, of which `read` makes the value; what that throws is thrown.
    template <class T, class Read>
    Option& file(std::string names, T& variable, Read read, std::string help) {
        return add(std::move(names), std::move(help), Kind::input_file,
                   [&variable, read](const Option& option, const std::string& text) {
                       if (option.is_auto(text)) {
                           variable = T();
                       } else {
                           variable = read(text);
                       }
                   });
    }

    /// An option that takes one of these words.
    template <class T>
    Option& choice(std::string names, T& variable, const std::vector<std::pair<std::string, T>>& words,
                   std::string help) {
        Option& added = add(std::move(names), std::move(help), Kind::choice,
                            [&variable, words](const Option& option, const std::string& text) {
                                for (const auto& [word, value] : words) {
                                    if (word == text) return void(variable = value);
                                }
                                option.refuse(text);
                            });
        for (const auto& [word, value] : words) {
            added.choices.push_back(word);
            if (value == variable) added.default_text = word;
        }
        return added;
    }

    Option& choice(std::string names, std::string& variable, const std::vector<std::string>& words,
                   std::string help);

    /// An option without a value, which sets the variable.
    Option& flag(std::string names, bool& variable, std::string help, bool value = true);

    /// "tidemill dvbs2 rx".
    const std::string& path() const { return path_; }
    std::string name() const { return path_.substr(path_.rfind(' ') + 1); }
    const std::string& alias() const { return alias_; }
    const std::string& summary() const { return summary_; }
    const std::string& footer() const { return footer_; }
    std::deque<Option>& options() { return options_; }
    const std::deque<Option>& options() const { return options_; }
    std::deque<Verb>& verbs() { return verbs_; }
    const std::deque<Verb>& verbs() const { return verbs_; }
    std::vector<std::string>* others() const { return others_; }
    std::vector<std::string>* command() const { return command_; }
    int act() const { return act_(); }

  private:
    template <class Parse>
    static auto parsed_by(const Parse& parse, const Option& option, const std::string& text) {
        try {
            return parse(text);
        } catch (const WrongUsage&) {
            throw;
        } catch (const Error& error) {
            throw WrongUsage(option.name() + ": " + error.what());
        }
    }

    Option& add(std::string names, std::string help, Kind kind, Option::Store store);

    std::string path_;
    std::string summary_;
    std::string alias_{};
    std::string footer_{};
    std::string heading_ = "Options";
    std::deque<Option> options_{};  // neither options nor verbs move
    std::deque<Verb> verbs_{};
    std::vector<std::string>* others_ = nullptr;
    std::vector<std::string>* command_ = nullptr;
    std::function<int()> act_{};
};

/// Reads a command line and does what it says. Writes to standard error what was wrong, and returns an exit
/// status. `version` is what --version prints; empty: there is no such option.
int run_command_line(Verb& program, int argc, const char* const* argv, const std::string& version = {});

}  // namespace tidemill::cli
