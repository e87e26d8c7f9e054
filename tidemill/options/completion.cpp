#include "tidemill/options/completion.hpp"

#include <algorithm>
#include <sstream>

namespace tidemill::cli {

namespace {

std::vector<std::string> names_in(const Option& option) {
    std::vector<std::string> names;
    std::istringstream text(option.names);
    for (std::string name; std::getline(text, name, ',');) names.push_back(name);
    return names;
}

const Option* option_named(const Verb& verb, const std::string& name) {
    for (const Option& option : verb.options())
        if (std::ranges::count(names_in(option), name) > 0) return &option;
    return nullptr;
}

const Verb& last_verb(const Verb& program, const std::vector<std::string>& words) {
    const Verb* verb = &program;
    for (const std::string& word : words) {
        const auto below = std::ranges::find(verb->verbs(), word, &Verb::name);
        if (below != verb->verbs().end()) verb = &*below;
    }
    return *verb;
}

std::vector<std::string> long_options(const Verb& verb) {
    std::vector<std::string> names{"--help"};
    for (const Option& option : verb.options())
        for (const std::string& name : names_in(option))
            if (name.starts_with("--")) names.push_back(name);
    return names;
}

std::vector<std::string> values_of(const Option& option) {
    std::vector<std::string> values = option.choices;
    if (option.takes_auto) values.emplace_back("auto");
    return values;
}

std::vector<std::string> candidates(const Verb& verb, const std::string& before, const std::string& word) {
    const Option* const option = option_named(verb, before);
    if (option != nullptr && option->kind != Kind::flag) return values_of(*option);
    if (word.starts_with('-')) return long_options(verb);
    std::vector<std::string> names;
    for (const Verb& below : verb.verbs()) names.push_back(below.name());
    return names;
}

}  // namespace

std::string completions(const Verb& program, const std::vector<std::string>& words) {
    if (words.empty()) return {};
    const std::vector<std::string> before(words.begin(), words.end() - 1);
    const std::string& word = words.back();
    std::string lines;
    for (const std::string& each :
         candidates(last_verb(program, before), before.empty() ? "" : before.back(), word))
        if (each.starts_with(word)) lines += each + "\n";
    return lines;
}

}  // namespace tidemill::cli
